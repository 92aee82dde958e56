import type { Clock } from '../ports.ts'
import type { AbsentBlock, BlockAnswer, BlockCommitment, BlockHeader, ChainNode } from './chain-node.ts'
import type { NodeAddress } from './node-address.ts'
import { RpcClient, type RpcClientOptions } from './rpc-client.ts'
import { RpcNode } from './rpc-node.ts'

export interface DirectNodeOptions {
  readonly client?: Partial<RpcClientOptions> | undefined
  /** Whether blocks come with the bytes they were read from. */
  readonly keepBody: boolean
}

/** Time after a fault during which a node is queried only after all others. */
const REST_MS = 5_000
/** Timeout of a genesis request. Nodes answer it from memory, so a slower one counts as down. */
const GENESIS_TIMEOUT_MS = 5_000

/** A node without health checks, for commands that run for a while and end. */
export class DirectNode implements ChainNode {
  readonly isArchive: boolean
  readonly rpc: RpcNode
  headSlot: number | null = null
  readonly #client: RpcClient
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
    this.#client = new RpcClient(address, clock, client)
    this.rpc = new RpcNode(this.#client, commitment, clock, keepBody)
  }

  get name(): string {
    return this.#client.name
  }

  get rank(): number {
    return this.#clock.now() < this.#restUntilMs ? 1 : 0
  }

  async block(slot: number, signal: AbortSignal): Promise<BlockAnswer> {
    const answer = await this.rpc.block(slot, signal)
    if (answer.kind === 'absent' && (answer.why === 'fault' || answer.why === 'unavailable'))
      this.#restUntilMs = this.#clock.now() + REST_MS
    return answer
  }

  async header(slot: number, signal: AbortSignal): Promise<BlockHeader | AbsentBlock> {
    return this.rpc.header(slot, signal)
  }

  async genesis(signal: AbortSignal): Promise<string> {
    return this.rpc.genesisHash(signal, GENESIS_TIMEOUT_MS)
  }

  async slotsFrom(slot: number, limit: number, signal: AbortSignal): Promise<readonly number[]> {
    return this.rpc.slotsFrom(slot, limit, signal)
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}
