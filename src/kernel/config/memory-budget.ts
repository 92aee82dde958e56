import type { Config } from './config.ts'

/**
 * Caches of a process with their weights in the memory budget. The cache of answers is the largest, because a hit
 * saves all work below it. With a third of the budget, pages of 100 trades that did not fit took five times the CPU
 * time. The other caches suffice for a day of mainnet, as measured.
 */
const PARTS = {
  /** Rendered answers of the Data API. */
  answers: 13,
  /** Answers in the making, and buffers for further ones: eight of the longest lists take 2 to 5 MiB each. */
  making: 4,
  /** Rolled activity of requested mints. */
  windows: 3,
  /** Rows of recently traded mints, for the fold. */
  market: 3,
  /** Decoded records of the store. */
  records: 2,
  /** Start positions of the cluster's row lists. */
  indexes: 4,
  /** Write buffers and blocks of the embedded engine. */
  engine: 2,
  /** Mirrored accounts of programs that are scanned: with the default of 512 MB, 200,000 token accounts. */
  programAccounts: 3,
  /** Pages of replays in progress. */
  replays: 2,
  /** Facts of mints, as their accounts state them. */
  mints: 1,
  /** Names of tokens, for the search. */
  names: 2,
  /** Fields of the JSON at the URIs of mints. */
  offChain: 1,
  /** Images of tokens, of at most 1 MiB each: with the default of 512 MB, about a hundred. */
  tokenImages: 2,
  /** Reserves and curves of pools, as their accounts state them. */
  pools: 1,
  /** Answers of nodes to JSON-RPC. */
  rpcAnswers: 2,
  /** Blocks rendered by the localnet's node. */
  localnetBlocks: 1
}

export type CacheName = keyof typeof PARTS
/** Limit of each cache in bytes; 0 for a cache that the process does not have. */
export type MemoryBudget = Readonly<Record<CacheName, number>>

/** Default budget in MB: a localnet runs on a laptop together with other programs. */
export const DEFAULT_MEMORY_MB = { localnet: 64, other: 512 } as const

/**
 * Share of `MILLRACE_MEMORY_MB` for the responses of all nodes while they arrive, in addition to the caches. The default
 * of 512 MB holds a program of a million small accounts, or ten of the largest blocks.
 */
const ANSWERS_SHARE = 0.5
/** Minimum of that limit in bytes: several of the largest blocks (15 MB in 2026), even with a small budget. */
const ANSWERS_BYTES_MIN = 128 * 2 ** 20

type Setup = Pick<Config, 'memoryMb' | 'source' | 'storage' | 'role'> &
  Partial<Pick<Config, 'tokenImages' | 'products'>>

const isLocalnetOf = ({ source, role }: Pick<Setup, 'source' | 'role'>): boolean =>
  source === 'localnet' && role.includes('ingest')

/** Returns `MILLRACE_MEMORY_MB`, or its default. */
function budgetMb(setup: Pick<Setup, 'memoryMb' | 'source' | 'role'>): number {
  return setup.memoryMb ?? DEFAULT_MEMORY_MB[isLocalnetOf(setup) ? 'localnet' : 'other']
}

/** Tells whether memory matters more than the speed of ingest: on a localnet with at most the default budget. */
export function isMemoryTight(setup: Setup): boolean {
  return isLocalnetOf(setup) && budgetMb(setup) <= DEFAULT_MEMORY_MB.localnet
}

/** Divides `MILLRACE_MEMORY_MB` among the caches that a process has. */
export function memoryBudget(setup: Setup): MemoryBudget {
  const { storage, role, products, tokenImages = false } = setup
  const isEmbedded = storage === 'embedded'
  const isGateway = isEmbedded || role.includes('gateway')
  const serves = (product: Config['products'][number]): boolean =>
    role.includes('gateway') && (products === undefined || products.includes(product))
  const has: Readonly<Record<CacheName, boolean>> = {
    answers: isGateway,
    making: isGateway,
    windows: serves('data'),
    market: role.includes('ingest'),
    records: true,
    indexes: !isEmbedded,
    engine: isEmbedded,
    programAccounts: isEmbedded && role.includes('gateway'),
    replays: isGateway,
    mints: serves('accounts'),
    names: serves('data') || serves('accounts'),
    offChain: serves('accounts') && tokenImages,
    tokenImages: serves('accounts') && tokenImages,
    pools: serves('accounts'),
    rpcAnswers: serves('rpc'),
    localnetBlocks: isLocalnetOf(setup)
  }
  const bytes = budgetMb(setup) * 2 ** 20
  const names = Object.keys(PARTS) as CacheName[]
  const all = names.reduce((sum, name) => sum + (has[name] ? PARTS[name] : 0), 0)
  const partOf = (name: CacheName): number => (has[name] ? Math.floor((bytes * PARTS[name]) / all) : 0)
  return Object.fromEntries(names.map((name) => [name, partOf(name)])) as Record<CacheName, number>
}

/** Caches of an import into an archive, with their weights. It serves nothing, so it has only those of the fold. */
const IMPORT_PARTS = { market: 2, records: 2, engine: 1 } as const

/** Divides `MILLRACE_MEMORY_MB` among the caches of an import into an archive. */
export function importBudget(
  setup: Pick<Setup, 'memoryMb' | 'source' | 'role'>
): Readonly<Record<keyof typeof IMPORT_PARTS, number>> {
  const bytes = budgetMb(setup) * 2 ** 20
  const { market, records, engine } = IMPORT_PARTS
  const all = market + records + engine
  const partOf = (weight: number): number => Math.floor((bytes * weight) / all)
  return { market: partOf(market), records: partOf(records), engine: partOf(engine) }
}

/** Returns the limit of the unpacked answers of all nodes that are in memory while they arrive, in bytes. */
export function answerBytesMax(setup: Setup): number {
  return Math.max(ANSWERS_BYTES_MIN, budgetMb(setup) * 2 ** 20 * ANSWERS_SHARE)
}
