import { encodeBase58 } from '../chain/base58.ts'
import { pubkeyToBase58, type Pubkey } from '../chain/pubkey.ts'
import { listOf, Unreadable } from '../chain/rpc/fields.ts'
import { NodeError } from '../node/node-fault.ts'
import { NodeGroup, type NodeClients } from '../node/node-group.ts'
import { RpcClient, type RpcAnswer, type RpcClientOptions } from '../node/rpc-client.ts'
import type { Clock } from '../ports.ts'
import { ACCOUNTS_REQUEST_MS } from '../kernel/time-limits.ts'
import {
  readAccount,
  readAddressed,
  readEpochSchedule,
  readInContext,
  resultWithExactLamports
} from './node-answers.ts'
import type { AccountNode, ProgramAccountsQuery } from './ports.ts'

/** Maximum number of accounts in getMultipleAccounts (agave, MAX_MULTIPLE_ACCOUNTS). */
export const ACCOUNTS_AT_ONCE = 100
/**
 * Limits of reads that an API client waits for. A second node can still answer within the endpoints' deadline. The byte
 * limit admits 100 accounts of 300 KB; typical accounts have up to a few KB.
 */
const READS: Partial<RpcClientOptions> = {
  requestsPerSecond: 100,
  concurrency: 8,
  timeoutMs: ACCOUNTS_REQUEST_MS,
  bodyBytesMax: 40 * 1024 * 1024,
  compressed: false
}
/**
 * Limits of reads of a whole program, or of a wallet with many accounts. A node takes tens of seconds for a program
 * of a million accounts. Its answer is one JSON text, which V8 limits to 512 MB.
 */
const SCANS: Partial<RpcClientOptions> = {
  requestsPerSecond: 10,
  concurrency: 2,
  timeoutMs: 120_000,
  bodyBytesMax: 500 * 1024 * 1024,
  compressed: true
}
const FORM = { encoding: 'base64', commitment: 'confirmed' } as const

interface Clients extends NodeClients {
  readonly scans: RpcClient
}

/** The operator's nodes by JSON-RPC, in encoding base64. */
export class RpcAccountNode implements AccountNode {
  readonly #nodes: NodeGroup<Clients>

  /** `urls` is called at each request: the localnet's URL is known only once it listens. */
  constructor(urls: () => readonly string[], clock: Clock) {
    this.#nodes = new NodeGroup(urls, clock, (address) => {
      const reads = new RpcClient(address, clock, READS)
      const scans = new RpcClient(address, clock, SCANS)
      return { reads, scans, all: [reads, scans] }
    })
  }

  /** Requests queued for a node. */
  get waiting(): number {
    return this.#nodes.waiting
  }

  /** Reads accounts. The slot is the oldest one of the requests; each account was read at that slot or later. */
  async accounts(addresses: readonly Pubkey[], signal: AbortSignal): ReturnType<AccountNode['accounts']> {
    const count = Math.max(1, Math.ceil(addresses.length / ACCOUNTS_AT_ONCE))
    const batches = Array.from({ length: count }, (_, at) =>
      addresses.slice(at * ACCOUNTS_AT_ONCE, (at + 1) * ACCOUNTS_AT_ONCE)
    )
    const answers = await Promise.all(batches.map(async (batch) => this.#batch(batch, signal)))
    return {
      slot: Math.min(...answers.map(({ slot }) => slot)),
      accounts: answers.flatMap(({ accounts }) => accounts)
    }
  }

  async epochSchedule(signal: AbortSignal): ReturnType<AccountNode['epochSchedule']> {
    return this.#ask('reads', 'getEpochSchedule', [], signal, readEpochSchedule)
  }

  async tokenAccounts(
    wallet: Pubkey,
    tokenProgram: Pubkey,
    signal: AbortSignal
  ): ReturnType<AccountNode['tokenAccounts']> {
    const params = [pubkeyToBase58(wallet), { programId: pubkeyToBase58(tokenProgram) }, FORM]
    return this.#ask('reads', 'getTokenAccountsByOwner', params, signal, (result) => {
      const { slot, value } = readInContext(result)
      return { slot, accounts: readAddressed(value) }
    })
  }

  async programAccounts(
    program: Pubkey,
    { dataSize, memcmp = [], dataSlice }: ProgramAccountsQuery,
    signal: AbortSignal
  ): ReturnType<AccountNode['programAccounts']> {
    const filters = [
      ...(dataSize === undefined ? [] : [{ dataSize }]),
      ...memcmp.map(({ offset, bytes }) => ({ memcmp: { offset, bytes: encodeBase58(bytes) } }))
    ]
    const config = { ...FORM, withContext: true, filters, ...(dataSlice !== undefined && { dataSlice }) }
    return this.#ask('scans', 'getProgramAccounts', [pubkeyToBase58(program), config], signal, (result) => {
      const { slot, apiVersion, value } = readInContext(result)
      return { slot, apiVersion, accounts: readAddressed(value, dataSlice !== undefined) }
    })
  }

  async close(): Promise<void> {
    await this.#nodes.close()
  }

  async #batch(addresses: readonly Pubkey[], signal: AbortSignal): ReturnType<AccountNode['accounts']> {
    return this.#ask(
      'reads',
      'getMultipleAccounts',
      [addresses.map(pubkeyToBase58), FORM],
      signal,
      (result) => {
        const { slot, value } = readInContext(result)
        const list = listOf(value, 'accounts')
        if (list.length !== addresses.length) throw new Unreadable('accounts')
        return { slot, accounts: list.map((each) => (each === null ? null : readAccount(each))) }
      }
    )
  }

  async #ask<T>(
    client: 'reads' | 'scans',
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    read: (result: unknown) => T
  ): Promise<T> {
    return this.#nodes.ask(
      async ({ clients }) => readAnswer(await clients[client].call(method, params, { signal }), method, read),
      signal
    )
  }
}

/** Reads an answer; parses it again with exact lamports where JSON.parse has rounded them. Throws NodeError. */
function readAnswer<T>({ result, body }: RpcAnswer, method: string, read: (result: unknown) => T): T {
  try {
    try {
      return read(result)
    } catch (error) {
      if (!(error instanceof Unreadable) || !error.isOutOfRange) throw error
      return read(resultWithExactLamports(body))
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new NodeError('node', { kind: 'garbage', detail: `${error.field} of the answer to ${method}` })
  }
}
