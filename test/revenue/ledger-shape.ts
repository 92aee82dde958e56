import type { Test } from 'tap'
import { ALL_MINTS, type Sums } from '../../src/revenue/ledger-document.ts'
import { documentsToOf } from '../../src/revenue/ledger-progress.ts'
import { LedgerReader, type LedgerRow } from '../../src/revenue/ledger-reader.ts'
import { NO_SUMS, plus, sumsOf } from '../../src/revenue/sums.ts'
import type { WatchedAddress } from '../../src/revenue/watched-address.ts'
import type { LedgerWorld } from './ledger-world.ts'
import { storedParts, storedSumsEqual } from './stored-ledger.ts'

/**
 * Checks the ledger of each watched address (INVARIANTS 7). The entries of an account follow each other without a hole, from
 * its balance before the first block to that of the newest one. All sums are those of the entries.
 */
export async function ledgerEqual(t: Test, world: LedgerWorld, message: string): Promise<number> {
  await world.settled(message)
  const head = world.bank.slot('processed')
  let entries = 0
  for (const watched of await world.watched()) {
    const rows = await world.rowsOf([watched])
    entries += rows.length
    followsChain(t, world, watched, rows, head, message)
    await sumsEqual(t, world, watched, rows, message)
  }
  return entries
}

/**
 * Checks that the ledger of each watched address is complete outside of the gaps. Returns the number of places where
 * balances do not follow each other.
 */
export async function ledgerCovered(t: Test, world: LedgerWorld, message: string): Promise<number> {
  await world.settled(message)
  const head = world.bank.slot('processed')
  const gaps = await world.gaps()
  let breaks = 0
  for (const watched of await world.watched()) {
    const { address, captureFrom } = watched
    const first = captureFrom!.slot - 1
    const known = new Map(
      [...world.balances(address, first)].map(([key, amount]) => [key, { amount, slot: first }])
    )
    const follows = (key: string, amount: bigint, slot: number): void => {
      const before = known.get(key) ?? { amount: 0n, slot: first }
      if (before.amount === amount) return
      breaks++
      const isCovered = gaps.some(({ from, to }) => from <= slot && to > before.slot)
      t.ok(isCovered, `${message}: a gap between slots ${before.slot} and ${slot} of ${key}`)
    }
    for (const { account, isNative, pre, post, slot } of await world.rowsOf([watched])) {
      const key = isNative ? address : account
      follows(key, pre, slot)
      known.set(key, { amount: post, slot })
    }
    for (const [key, amount] of world.balances(address, head)) follows(key, amount, head)
  }
  return breaks
}

function followsChain(
  t: Test,
  world: LedgerWorld,
  { address, captureFrom }: WatchedAddress,
  rows: readonly LedgerRow[],
  head: number,
  message: string
): void {
  const begun = world.balances(address, captureFrom!.slot - 1)
  const balances = new Map(begun)
  const breaks: string[] = []
  for (const { account, isNative, pre, post, slot, signature } of rows) {
    const key = isNative ? address : account
    if ((balances.get(key) ?? 0n) !== pre) breaks.push(`${key} at slot ${slot}, ${signature}`)
    balances.set(key, post)
  }
  t.strictSame(breaks, [], `${message}: entries of ${address} follow each other`)
  t.strictSame(
    notEmpty(balances),
    notEmpty(world.balances(address, head)),
    `${message}: balances of ${address}`
  )
}

/** Accounts without tokens are like those that do not exist. */
const notEmpty = (balances: Iterable<readonly [string, bigint]>): (readonly [string, bigint])[] =>
  [...balances].filter(([, amount]) => amount > 0n).sort(([a], [b]) => (a < b ? -1 : 1))

/** Checks that the sums of some windows of a ledger are those of its rows. */
export async function sumsEqual(
  t: Test,
  world: LedgerWorld,
  watched: WatchedAddress,
  rows: readonly LedgerRow[],
  message: string
): Promise<void> {
  const { storage, choices } = world
  const reader = new LedgerReader(storage)
  const begun = watched.captureFrom!.slot
  const first = watched.history === undefined ? begun : (rows[0]?.slot ?? begun)
  const last = rows.at(-1)?.slot ?? first
  const from = first + choices.below(last - first + 1)
  for (const window of [{ from: 0 }, { from }, { from: first, until: from }]) {
    const { all, byMint } = await reader.sums(watched, window)
    const expected = sumsIn(
      watched.address,
      rows.filter(({ slot }) => slot >= window.from && slot <= (window.until ?? Infinity))
    )
    t.strictSame(all, expected.get(ALL_MINTS) ?? NO_SUMS, `${message}: all sums of ${watched.address}`)
    expected.delete(ALL_MINTS)
    t.strictSame(
      byMint.map(({ mint, sums }) => [mint, sums]),
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
      `${message}: sums of ${watched.address} by mint`
    )
  }
  await storedSumsEqual(t, storage.ledger, watched.address, message)
  // Without a history, every entry of the address is shown.
  if (watched.history !== undefined) return
  const documentsTo = documentsToOf(await world.progress)
  const shown = new Set(rows.map(({ slot }) => slot).filter((slot) => slot > documentsTo))
  const stored = (await storedParts(storage.ledger, watched.address)).filter(({ slot }) => slot >= first)
  t.strictSame(
    stored.map(({ slot }) => slot),
    [...shown],
    `${message}: pages without rows`
  )
}

/** Sums by mint, block by block as they are stored. */
function sumsIn(address: string, rows: readonly LedgerRow[]): Map<string, Sums> {
  const sums = new Map<string, Sums>()
  for (const block of Map.groupBy(rows, ({ slot }) => slot).values())
    for (const { mint, sums: own } of sumsOf(address, block))
      sums.set(mint, plus(sums.get(mint) ?? NO_SUMS, own))
  return sums
}
