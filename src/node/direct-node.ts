import type { Clock } from '../ports.ts'
import type { AbsentBlock, BlockAnswer, BlockCommitment, BlockHeader, ChainNode } from './chain-node.ts'
import type { NodeAddress } from './node-address.ts'
import { NodeError } from './node-fault.ts'
import { RpcClient, type RpcClientOptions } from './rpc-client.ts'
import { RpcNode } from './rpc-node.ts'

export interface DirectNodeOptions {
  readonly client?: Partial<RpcClientOptions> | undefined
  /** Whether blocks come with the bytes they were read from. */
  readonly keepBody: boolean
}

/** Time after a fault during which a node is queried only after all others, in milliseconds. */
const REST_MS = 5_000
/** Timeout of a genesis request. Nodes answer it from memory, so a slower one counts as down. */
const GENESIS_TIMEOUT_MS = 5_000

/** A node without health checks. One that failed a request comes after the others for a while. */
export class DirectNode implements ChainNode {
  readonly isArchive: boolean
  readonly rpc: RpcNode
  headSlot: number | null = null
  readonly #clock: Clock
  #restUntilMs = 0

  constructor(
    address: NodeAddress,
    isArchive: boolean,
    commitment: BlockCommitment,
    clock: Clock,
    { client, keepBody }: DirectNodeOptions
  ) {
    this.isArchive = isArchive
    this.#clock = clock
    this.rpc = new RpcNode(new RpcClient(address, clock, client), commitment, clock, keepBody)
  }

  get name(): string {
    return this.rpc.client.name
  }

  /** Whether it failed a request a short time ago. */
  get isResting(): boolean {
    return this.#clock.now() < this.#restUntilMs
  }

  get rank(): number {
    return this.isResting ? 1 : 0
  }

  async block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    const answer = await this.rpc.block(slot, signal)
    if (answer.kind === 'absent' && (answer.why === 'fault' || answer.why === 'unavailable')) this.#rest()
    return answer
  }

  async header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock> {
    return this.rpc.header(slot, signal)
  }

  async genesis(signal: AbortSignal): Promise<string> {
    return this.rpc.genesisHash(signal, GENESIS_TIMEOUT_MS)
  }

  async slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    try {
      return await this.rpc.slotsFrom(slot, limit, signal)
    } catch (error) {
      if (error instanceof NodeError) this.#rest()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.rpc.client.close()
  }

  #rest(): void {
    this.#restUntilMs = this.#clock.now() + REST_MS
  }
}
