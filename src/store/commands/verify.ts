import { stat } from 'node:fs/promises'
import { pubkeyFromBase58, pubkeyMapKey, type Pubkey } from '../../chain/pubkey.ts'
import type { Block } from '../../chain/transaction.ts'
import type { Config } from '../../kernel/config/config.ts'
import { ServiceError } from '../../kernel/errors.ts'
import { CashList } from '../../market/cash.ts'
import { cursorAt } from '../../market/cursor.ts'
import { MissingBlocks } from '../../node/missing-blocks.ts'
import { systemPorts } from '../../ports.ts'
import { readRecorded } from '../../recorded/read.ts'
import { scanRecorded } from '../../recorded/scan.ts'
import { openStoreToRead, storeDirectory } from '../opening.ts'
import { VerifiedFees } from '../../ingest/commands/verified-fees.ts'
import { blockDifferences } from '../verify/block-check.ts'
import { candleDifferences } from '../verify/candle-check.ts'
import { decodingFindings } from '../verify/decoding-check.ts'
import { differenceText, type Difference } from '../verify/difference.ts'
import type { Storage } from '../../../storage/port.ts'
import { BadUsage, type CommandContext, type Invocation } from '../../kernel/cli/command.ts'
import { slotRange, type SlotRange } from './slot-range.ts'
import { verifyAccounts } from '../../program-accounts/commands/verify-accounts.ts'
import { verifyRevenue } from '../../revenue/commands/verify-revenue.ts'
import { verifyStore } from './verify-store.ts'

const HOUR = 3_600
/** Hours whose mints a store can list. */
const HOURS_LISTED = 26
const PER_READ = 500
const PROGRESS_MS = 1_000

/** Neither the store nor a node can be read; the message is for the operator. */
class Unverifiable extends Error {}

interface Asked {
  readonly range: SlotRange | null
  readonly mints: readonly Pubkey[]
}

interface VerifyOptions {
  readonly accounts?: true | undefined
  readonly revenue?: true | undefined
  readonly store?: true | undefined
}

/**
 * Compares stored records with recomputed ones, and prints each difference as a line of JSON.
 *
 * Candles are folded again from stored trades: of the named mints, or of all mints launched or traded within the last
 * day. A range of slots has its blocks decoded again: from the recorded folder if one is named, otherwise from the nodes.
 * If a service has an embedded store open, a snapshot is compared. Resolves with 1 if a record differs or could not be
 * compared; rows past the retention are skipped.
 */
export async function verify(invocation: Invocation<VerifyOptions>): Promise<number> {
  const { config, operands, options } = invocation
  if (options.store === true) return verifyStore(invocation)
  if (options.accounts === true) {
    if (config.rpcUrl.length === 0) throw new BadUsage('set the node to compare with: --rpc-url')
    return verifyAccounts(invocation)
  }
  if (options.revenue === true) {
    if (config.rpcUrl.length + config.archiveRpcUrl.length === 0)
      throw new BadUsage('set the node to compare with: --rpc-url')
    return verifyRevenue(invocation)
  }
  const complain = (line: string): void => invocation.stderr(`millrace: ${line}`)
  const asked = understood(operands)
  const { range } = asked
  if (
    range !== null &&
    config.recordedDir === null &&
    config.rpcUrl.length + config.archiveRpcUrl.length === 0
  ) {
    complain('a range needs blocks to compare with: set --recorded-dir or --rpc-url')
    return 2
  }
  try {
    const storage = await openedStore(config, () =>
      complain('the store is open in another process; comparing a snapshot of it')
    )
    try {
      return await compareAll(storage, config, asked, invocation)
    } finally {
      await storage.close()
    }
  } catch (error) {
    if (invocation.interrupted.aborted) complain('interrupted')
    else if (error instanceof ServiceError) complain(error.detail)
    else if (error instanceof Unverifiable) complain(error.message)
    else throw error
    return 1
  }
}

function understood(words: readonly string[]): Asked {
  const range = slotRange(words[0] ?? '')
  try {
    return { range, mints: words.slice(range === null ? 0 : 1).map(pubkeyFromBase58) }
  } catch {
    throw new BadUsage('verify takes a range of slots, as in 300000000..300000999, and mints')
  }
}

async function openedStore(config: Config, onSnapshot: () => void): Promise<Storage> {
  const directory = storeDirectory(config)
  if (config.storage === 'embedded' && (await stat(directory).catch(() => null)) === null)
    throw new Unverifiable(`there is no store in ${directory}; set its folder with --data-dir`)
  return openStoreToRead(config, onSnapshot)
}

async function compareAll(
  storage: Storage,
  config: Config,
  { range, mints }: Asked,
  { stdout, stderr, interrupted }: CommandContext
): Promise<number> {
  const counts = { mints: 0, rows: 0, candles: 0, blocks: 0, expired: 0, open: 0, missing: 0, differences: 0 }
  const summary = (): string =>
    `${counts.candles} candles of ${counts.mints} mints (${counts.rows} trades) and ${counts.blocks} blocks compared: ` +
    `${counts.differences} differences`
  let toldMs = systemPorts.clock.now()
  const reportDecoding = async (): Promise<void> => {
    for (const { difference, note } of await decodingFindings(storage, config.venues, range)) {
      if (difference === null) stderr(`millrace: ${note}`)
      else {
        counts.differences++
        stdout(differenceText(difference))
      }
    }
  }
  const take = async (differences: AsyncIterable<Difference>): Promise<void> => {
    for await (const difference of differences) {
      counts.differences++
      stdout(differenceText(difference))
    }
    interrupted.throwIfAborted()
    if (systemPorts.clock.now() - toldMs < PROGRESS_MS) return
    toldMs = systemPorts.clock.now()
    stderr(summary())
  }
  await reportDecoding()
  if (range === null || mints.length > 0)
    for await (const mint of mints.length > 0 ? mints : storedMints(storage)) {
      await take(candleDifferences(storage, mint, counts))
      counts.mints++
    }
  if (range !== null) {
    const cash = new CashList(config.usdMints.map(pubkeyFromBase58))
    const options = { cash, startingSolUsd: config.solUsd, venues: new Set(config.venues) }
    const fees = new VerifiedFees(config.rpcUrl, systemPorts.clock)
    try {
      for await (const block of blocksOf(config, range, interrupted)) {
        if (typeof block === 'string') {
          counts.missing++
          stderr(`millrace: ${block}`)
          continue
        }
        // Read for each block, because a running service moves the horizon.
        const horizon = await storage.coverage.horizon()
        const { feeOf, isOpen } = await fees.of(block)
        const found = blockDifferences(storage, block, options, horizon, feeOf)
        if (isOpen && !(await isSame(found))) counts.open++
        else if (!isOpen) await take(found)
        counts.blocks++
        if (cursorAt(block.slot, 0) < (horizon?.cursor ?? 0)) counts.expired++
      }
    } finally {
      await fees.close()
    }
  }
  if (counts.open > 0)
    stderr(
      `millrace: ${counts.open} of these blocks differ, but have transfers whose fees are no longer known; they were not compared`
    )
  if (counts.expired > 0)
    stderr(
      `millrace: the trades and pool events of ${counts.expired} of these blocks are past the retention and were not compared`
    )
  stderr(summary())
  return counts.differences + counts.missing > 0 ? 1 : 0
}

/** Tells whether a comparison yields no difference. */
async function isSame(differences: AsyncIterable<Difference>): Promise<boolean> {
  for await (const _ of differences) return false
  return true
}

/** Yields launched mints, and mints traded within the last day, each once. */
async function* storedMints(storage: Storage): AsyncGenerator<Pubkey> {
  const seen = new Set<string>()
  const isNew = (mint: Pubkey): boolean => seen.size !== seen.add(pubkeyMapKey(mint)).size
  for (let from = -1; ;) {
    const launches = await storage.launches.page({ from, order: 'asc', limit: PER_READ })
    for (const { mint } of launches) if (isNew(mint)) yield mint
    if (launches.length < PER_READ) break
    from = launches.at(-1)!.cursor
  }
  const head = await storage.blocks.head()
  const last = head === null ? 0 : head.blockTime - (head.blockTime % HOUR)
  for (let hour = last - HOURS_LISTED * HOUR; head !== null && hour <= last; hour += HOUR)
    for (let after: Pubkey | null = null; ;) {
      const page = { ...(after === null ? {} : { after }), limit: PER_READ }
      const mints = await storage.activity.mintsOfHour(hour, page)
      for (const { mint } of mints) if (isNew(mint)) yield mint
      if (mints.length < PER_READ) break
      after = mints.at(-1)!.mint
    }
}

/** Yields the blocks of a range; prints a line for each block that cannot be read. */
async function* blocksOf(
  config: Config,
  { from, to }: SlotRange,
  signal: AbortSignal
): AsyncGenerator<Block | string> {
  if (config.recordedDir !== null) {
    const index = await scanRecorded(config.recordedDir, { signal })
    for await (const block of readRecorded(index, { fromSlot: from })) {
      if (block.slot > to) return
      yield block
    }
    return
  }
  const nodes = new MissingBlocks({
    urls: config.rpcUrl,
    archiveUrls: config.archiveRpcUrl,
    commitment: 'confirmed',
    expectedGenesis: async () => null,
    onGenesis: async () => undefined,
    onRefused: (line) => {
      throw new Unverifiable(line)
    },
    clock: systemPorts.clock
  })
  try {
    for (let slot = from; slot <= to; slot++) {
      const block = await nodes.fetch(slot, signal)
      if (block === null) yield `the nodes do not have slot ${slot}`
      else if (block !== 'skipped') yield block
    }
  } finally {
    await nodes.close()
  }
}
