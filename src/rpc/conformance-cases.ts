import { decodeBase58 } from '../chain/base58.ts'
import { REJECTED_METHODS, RPC_METHODS } from './methods.ts'

/** The parsed answer of an endpoint; the body's text if the body is not JSON. */
export interface ParsedAnswer {
  readonly body: unknown
  /** Seconds to wait before the next request, after a rate limit refusal. */
  readonly retryAfterS?: number | undefined
}

/** Sends a body to an endpoint. Rejects if it is not answered. */
export type Ask = (body: string) => Promise<ParsedAnswer>

/** Thrown if an endpoint gives no comparable answers; the message is for the operator. */
export class Unanswered extends Error {
  /** Whether the endpoint may answer later. */
  readonly isRetryable: boolean

  constructor(message: string, isRetryable = false) {
    super(message)
    this.isRetryable = isRetryable
  }
}

/** Facts of a chain from which parameters are made. */
export interface ChainFacts {
  /** A finalized slot with a block. */
  readonly slot: number
  /** A transaction of the block, preferably one that moves tokens. */
  readonly signature: string
  /**
   * The wallet that paid the fee of `signature`. If there is no such transaction, an account that no block changes;
   * votes change vote accounts in every slot.
   */
  readonly address: string
  readonly blockhash: string
  /** A mint, and an account of its tokens. */
  readonly mint: string
  readonly tokenAccount: string
}

/** A request of the comparison. */
export interface ConformanceCase {
  readonly method: string
  /** JSON of the params. */
  readonly params: string
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
const NO_SIGNATURE = '1'.repeat(64)
/** Maximum blocks that are searched for a transaction that moves tokens. */
const BLOCKS_MAX = 5

interface ReadBlock {
  readonly transactions?: readonly {
    readonly transaction: {
      readonly signatures: readonly string[]
      readonly accountKeys: readonly { readonly pubkey: string }[]
    }
    readonly meta: {
      readonly postTokenBalances?: readonly { readonly accountIndex: number; readonly mint: string }[]
    } | null
  }[]
}

interface AnsweredError {
  readonly message?: string
  readonly data?: { readonly retryable?: boolean }
}

/** Reads facts from the newest finalized blocks. Throws `Unanswered` with the method whose answer is unusable. */
export async function chainFacts(ask: Ask): Promise<ChainFacts> {
  const result = async (method: string, params: unknown[]): Promise<unknown> => {
    const { body } = await ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })).catch(
      (error: Error) => {
        throw new Unanswered(`${method} has no answer: ${error.message}`)
      }
    )
    const { result: value, error } = (body ?? {}) as { result?: unknown; error?: AnsweredError }
    if (value === undefined)
      throw new Unanswered(
        `${method} gave no result: ${error?.message ?? 'no error'}`,
        error?.data?.retryable === true
      )
    return value
  }
  const finalized = (await result('getSlot', [{ commitment: 'finalized' }])) as number
  const from = Math.max(0, finalized - 20)
  const slots = (await result('getBlocksWithLimit', [from, BLOCKS_MAX, FINALIZED])) as number[]
  const latest = (await result('getLatestBlockhash', [])) as { value: { blockhash: string } }
  let facts: ChainFacts = {
    slot: slots[0] ?? finalized,
    signature: NO_SIGNATURE,
    address: SYSTEM_PROGRAM,
    blockhash: latest.value.blockhash,
    mint: WRAPPED_SOL,
    tokenAccount: WRAPPED_SOL
  }
  for (const slot of slots) {
    const block = (await result('getBlock', [slot, ACCOUNTS]).catch(() => null)) as ReadBlock | null
    const transactions = block?.transactions ?? []
    const moving = transactions.find(({ meta }) => (meta?.postTokenBalances?.length ?? 0) > 0)
    const found = moving ?? transactions[0]
    if (found === undefined || (moving === undefined && facts.signature !== NO_SIGNATURE)) continue
    const { signatures, accountKeys } = found.transaction
    const [held] = found.meta?.postTokenBalances ?? []
    facts = {
      ...facts,
      slot,
      signature: signatures[0] ?? facts.signature,
      ...(held !== undefined && {
        address: accountKeys[0]?.pubkey ?? facts.address,
        mint: held.mint,
        tokenAccount: accountKeys[held.accountIndex]?.pubkey ?? facts.tokenAccount
      })
    }
    if (moving !== undefined) break
  }
  return facts
}

const FINALIZED = { commitment: 'finalized' }
const ACCOUNTS = {
  encoding: 'json',
  transactionDetails: 'accounts',
  maxSupportedTransactionVersion: 0,
  rewards: false,
  ...FINALIZED
}

/** Returns valid and invalid requests for every method, and requests for methods that are not served. */
export function conformanceCases(facts: ChainFacts): readonly ConformanceCase[] {
  const good = valuesOf(facts)
  const served = RPC_METHODS.flatMap(({ name, params, configAt }) => {
    const first = params[0]?.name ?? 'config'
    const bases = good[`${name}`] ?? (first === 'config' ? [[]] : (good[first] ?? [[]]))
    const [base = []] = bases
    const configured = configAt === null ? [] : CONFIGS.map((config) => [...base, config])
    const lists = [...bases, ...BAD_PARAMS, ...configured].map((list) => JSON.stringify(list))
    return [...new Set(lists)].map((params) => ({ method: name, params }))
  })
  const others = [...REJECTED_METHODS.keys(), 'getInflationRate', 'getNothing', 'voteSubscribe'].map(
    (method) => ({ method, params: '[]' })
  )
  return [...served, ...others]
}

/** Returns good and bad requests of subscriptions, for two sockets. */
export function subscriptionCases(facts: ChainFacts): readonly ConformanceCase[] {
  const { address, signature } = facts
  const firsts: Readonly<Record<string, readonly unknown[]>> = {
    account: [address, 'no address', 5, null],
    program: [SYSTEM_PROGRAM, 'no address', null],
    logs: ['all', 'allWithVotes', 'x', { mentions: [address] }, { mentions: [] }, { mentions: [5] }, {}, 7],
    signature: [signature, address, '0', null],
    slot: [],
    root: []
  }
  return Object.entries(firsts).flatMap(([kind, values]) => {
    const [first] = values
    const configured = first === undefined ? [] : SUBSCRIPTION_CONFIGS.map((config) => [first, config])
    const lists = [...values.map((value) => [value]), ...configured, [], [1, 2, 3, 4]]
    return [
      ...lists.map((list) => ({ method: `${kind}Subscribe`, params: JSON.stringify(list) })),
      ...['[]', '["x"]', '[-1]', '[4000000000]', '[1.5]'].map((params) => ({
        method: `${kind}Unsubscribe`,
        params
      }))
    ]
  })
}

/** Params by method, or by the name of the first parameter. The first list of each is valid. */
function valuesOf(facts: ChainFacts): Readonly<Record<string, readonly (readonly unknown[])[]>> {
  const { slot, signature, address, blockhash, mint, tokenAccount } = facts
  const message = messageOf(facts)
  const transaction = Buffer.concat([Buffer.of(1), Buffer.alloc(64), message]).toString('base64')
  const READ = { encoding: 'json', maxSupportedTransactionVersion: 0 }
  const simulated = { encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true }
  return {
    address: [[address], [mint], [tokenAccount], [WRAPPED_SOL], ['no address'], ['1'.repeat(45)]],
    getTokenSupply: [[mint], [address], [tokenAccount], ['no address']],
    getTokenAccountBalance: [[tokenAccount], [address], [mint], ['no address']],
    getSignaturesForAddress: [
      [address],
      [mint, { limit: 2 }],
      [address, { limit: 0 }],
      [address, { limit: 1_001 }],
      [address, { before: 'x' }],
      [address, { until: signature }]
    ],
    addresses: [[[address, mint]], [[]], [address], [[address, 'x']], [Array(101).fill(address)]],
    signature: [
      [signature, READ],
      [signature],
      [signature, 'json'],
      [signature, { ...READ, encoding: 'jsonParsed' }],
      [signature, { ...READ, encoding: 'base58' }],
      [NO_SIGNATURE],
      ['0']
    ],
    signatures: [
      [[signature], { searchTransactionHistory: true }],
      [[signature, NO_SIGNATURE]],
      [['0']],
      ['x'],
      [Array(257).fill(signature)]
    ],
    sendTransaction: [
      [transaction, { encoding: 'base64' }],
      [transaction],
      ['!'],
      ['', { encoding: 'base64' }]
    ],
    simulateTransaction: [
      [transaction, simulated],
      [transaction, { ...simulated, sigVerify: true }],
      [transaction, { ...simulated, accounts: { encoding: 'base64', addresses: [address] } }],
      [transaction, { encoding: 'base64' }],
      [transaction],
      ['!']
    ],
    message: [[message.toString('base64')], ['AA=='], [5]],
    blockhash: [[blockhash], [address], ['x']],
    getBlock: [
      [slot, READ],
      [slot],
      [slot, { ...READ, transactionDetails: 'signatures', rewards: true }],
      [slot, { ...READ, transactionDetails: 'none' }],
      [slot, { ...READ, transactionDetails: 'x' }],
      [slot, { ...READ, encoding: 'base64' }],
      [slot, { ...READ, encoding: 'x' }],
      [slot + 1_000_000_000],
      ['x']
    ],
    slot: [[slot], [slot + 1_000_000_000], ['x'], [-1], [1.5]],
    startSlot: [
      [slot, 3],
      [slot, 0],
      [slot, 'x'],
      [slot, 1_000_000],
      [slot + 1_000_000_000, 1]
    ],
    dataLength: [[0], [165], ['x'], [-1], [2 ** 40]]
  }
}

const BAD_PARAMS: readonly (readonly unknown[])[] = [[], [null], [{}], [[[]]], [1, 2, 3, 4, 5]]
const CONFIGS: readonly unknown[] = [
  { commitment: 'finalized' },
  { commitment: 'confirmed' },
  { commitment: 'processed' },
  { commitment: 'unknown' },
  { minContextSlot: 1 },
  { minContextSlot: 2 ** 52 },
  { minContextSlot: -1 },
  { minContextSlot: 'x' },
  { encoding: 'base64' },
  { encoding: 'base58' },
  { encoding: 'base64+zstd' },
  { encoding: 'jsonParsed' },
  { encoding: 'unknown' },
  { encoding: 'base64', dataSlice: { offset: 0, length: 4 } },
  { dataSlice: 5 },
  null,
  5
]
const SUBSCRIPTION_CONFIGS: readonly unknown[] = [
  { commitment: 'confirmed' },
  { commitment: 'unknown' },
  { encoding: 'base64' },
  { encoding: 'unknown' },
  { filters: [{ dataSize: 1 }] },
  { filters: [1] },
  { filters: Array(5).fill({ dataSize: 1 }) },
  { enableReceivedNotification: 5 },
  null,
  5
]

/** A legacy message without instructions. Its accounts are the wallet and the system program. */
function messageOf({ address, blockhash }: ChainFacts): Buffer {
  return Buffer.concat([
    Buffer.of(1, 0, 1, 2),
    decodeBase58(address),
    decodeBase58(SYSTEM_PROGRAM),
    decodeBase58(blockhash),
    Buffer.of(0)
  ])
}
