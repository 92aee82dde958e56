/**
 * Measures the cost of the account side for ingest, in CPU time of the whole process. The account side has three parts.
 * First, holder lists of the 20 mints with the most changed balances of the recorded mainnet block, maintained from blocks
 * with all their rows; rows are deleted once superseded. Second, the last day of each traded mint, rolled in memory. Third,
 * the accounts that two mirrored programs touch.
 *
 * The recorded block comes again under each slot, in turn into three stores: with the account side, with only its observers,
 * for which ingest waits, and without it. Balances go back and forth, so that each block changes them.
 *
 *     node loadtest/account-ingest.ts [blocks] [--small]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prune, storeBlock, writeRows } from '../actors/holders/list-store.ts'
import { RecentRows } from '../actors/holders/recent-rows.ts'
import { VENUES } from '../src/chain/venues.ts'
import { pubkeyFromBase58, pubkeyOfMapKey, type Pubkey } from '../src/chain/pubkey.ts'
import { balanceChanges, type MintChanges } from '../src/holders/balance-changes.ts'
import { HolderBlocks } from '../src/holders/holder-blocks.ts'
import { wholeList } from '../src/holders/list-rows.ts'
import type { HeldBalance } from '../src/holders/row-bytes.ts'
import { ChainWatch } from '../src/program-accounts/chain-watch.ts'
import { DecodingReport } from '../src/telemetry/decoding-report.ts'
import { CommittedBlocks } from '../src/node/committed-blocks.ts'
import { CommitFeed } from '../src/views/commit-feed.ts'
import { MintWindows } from '../src/views/mint-windows.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { loneIngester } from '../test/actors/chain/lone-ingester.ts'
import { readBlock, RECORDED_SLOT, recordedBlockText, repeated } from './recorded-block.ts'
import { writeResult } from './result.ts'

const LISTS = 20
const WARM_UP = 50
/**
 * Blocks after which superseded versions are deleted, each block's once. In the service this happens after the five minutes
 * of a paging run.
 */
const PRUNE_BLOCKS = 25
/** Readings of the block from JSON that are timed. */
const READINGS = 20
/** Maximum slowdown of ingest. */
const BAR = 0.05
const DAY = 86_400
const PROGRAMS = ['pumpfun', 'raydium-amm-v4']

const { values, positionals } = parseArgs({ allowPositionals: true, options: { small: { type: 'boolean' } } })
const blocks = Number(positionals[0] ?? (values.small === true ? 60 : 400))
const text = recordedBlockText()
const recorded = readBlock(JSON.parse(text))
const blockAt = repeated(recorded)
const forth = [...balanceChanges(recorded, null)]
  .filter(([, { fault }]) => fault === null)
  .sort(([, a], [, b]) => b.accounts.size - a.accounts.size)
  .slice(0, LISTS)
const back = new Map(forth.map(([mint, changes]) => [mint, reversed(mint, changes)]))

/** Returns the changes that undo others. */
function reversed(mint: string, { accounts }: MintChanges): MintChanges {
  const changes = [...accounts].map(([key, { account, before, after }]) => {
    const was = before === 0n ? null : { owner: after?.owner ?? pubkeyOfMapKey(mint), amount: before }
    return [key, { account, before: after?.amount ?? 0n, after: was }] as const
  })
  return { accounts: new Map(changes), fault: null }
}

/** Balances before the block. */
function balancesOf(changes: MintChanges): (readonly [Pubkey, HeldBalance])[] {
  return [...changes.accounts.values()].flatMap(({ account, after }) =>
    after === null ? [] : [[account, after] as const]
  )
}

class Side {
  cpuMicros = 0
  taken = 0
  readonly take: (place: number) => Promise<void>
  readonly end: () => Promise<void>

  private constructor(take: Side['take'], end: Side['end']) {
    this.take = async (place) => {
      const before = process.cpuUsage()
      await take(place)
      const { user, system } = process.cpuUsage(before)
      this.cpuMicros += user + system
      this.taken++
    }
    this.end = end
  }

  /** Opens a store without the account side, with only its parts that ingest waits for, or with all of it. */
  static async open(accounts: 'none' | 'observers' | 'all'): Promise<Side> {
    const hasAccounts = accounts !== 'none'
    const directory = mkdtempSync(join(tmpdir(), 'millrace-account-ingest-'))
    const storage = await openEmbeddedStorage({ directory })
    const feed = new CommitFeed()
    const committed = new CommittedBlocks(feed)
    const held = new HolderBlocks(feed)
    const recent = new RecentRows(storage.holders)
    const windows = new MintWindows(storage.activity, feed)
    let ticks = 0
    if (hasAccounts) {
      committed.subscribe(held)
      held.begin()
      held.want(new Set(back.keys()))
      const watch = new ChainWatch(feed, committed)
      for (const program of PROGRAMS) {
        const { programs } = VENUES.find(({ id }) => id === program)!
        watch.subscribe(pubkeyFromBase58(programs[0]!), { tick: () => ticks++, missed: () => undefined })
      }
      windows.follow()
      for (const [mint, changes] of back)
        for (const rows of wholeList(balancesOf(changes), RECORDED_SLOT - 1, 1_000))
          await writeRows(storage.holders, { mint: pubkeyOfMapKey(mint), reading: 1 }, rows)
    }
    const ingester = await loneIngester(storage, undefined, new DecodingReport(), [], feed, committed)
    const follow = async (place: number): Promise<void> => {
      for (const event of held.take()) {
        if (event.kind !== 'block') throw new Error(`blocks were ${event.kind}`)
        if (accounts === 'observers') continue
        const changes = place % 2 === 0 ? event.block.changes : back
        const outcomes = await Promise.all(
          [...back.keys()].map(async (mint) => {
            const list = { mint: pubkeyOfMapKey(mint), reading: 1 }
            return storeBlock(recent, list, event.block.slot, changes.get(mint)!)
          })
        )
        for (const outcome of outcomes) if ('fault' in outcome) throw new Error(outcome.fault)
        if (place % PRUNE_BLOCKS !== 0) continue
        for (const mint of back.keys())
          await prune(
            storage.holders,
            { mint: pubkeyOfMapKey(mint), reading: 1 },
            event.block.slot - PRUNE_BLOCKS
          )
      }
      // Each traded mint is requested once, at the first block.
      if (place > 0) return
      for (const mint of mintsTraded)
        await windows.of(mint, feed.head!.blockTime, { day: DAY }, { traders: true })
    }
    const mintsTraded = [...balanceChanges(recorded, null).keys()].map(pubkeyOfMapKey)
    return new Side(
      async (place) => {
        const block = blockAt(place)
        await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1000 })
        if (hasAccounts) await follow(place)
      },
      async () => {
        if (hasAccounts && (windows.size === 0 || ticks === 0))
          throw new Error('nothing was rolled or touched')
        rolled = Math.max(rolled, windows.size)
        await storage.close()
        rmSync(directory, { recursive: true })
      }
    )
  }
}

let rolled = 0
const sides = [await Side.open('none'), await Side.open('observers'), await Side.open('all')] as const
const [without, observed, withAccounts] = sides
for (let place = 0; place < WARM_UP + blocks; place++)
  for (const side of place % 2 === 0 ? sides : sides.toReversed()) {
    if (place === WARM_UP) side.cpuMicros = side.taken = 0
    await side.take(place)
  }
for (const side of sides) await side.end()
const msOf = ({ cpuMicros, taken }: Side): number => cpuMicros / 1_000 / taken
const before = process.cpuUsage()
for (let n = 0; n < READINGS; n++) readBlock(JSON.parse(text))
const { user, system } = process.cpuUsage(before)
const readMs = (user + system) / 1_000 / READINGS
const base = msOf(without)
/** Shares of the time of ingest alone, and of ingest with the reading of the block from JSON, which a source does before. */
function slower(side: Side) {
  const added = msOf(side) - base
  return { added_ms: added, slower: added / base, slower_with_reading: added / (base + readMs) }
}
const figures = {
  load_of_the_machine: loadavg()[0],
  blocks,
  lists: LISTS,
  changed_accounts_of_them_a_block: forth.reduce((sum, [, { accounts }]) => sum + accounts.size, 0),
  rolled_mints: rolled,
  programs: PROGRAMS,
  cpu_ms_a_block: { without: base, read_from_json: readMs },
  observers: slower(observed),
  all: slower(withAccounts),
  bar: BAR
}
if (values.small === true) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
else await writeResult('account-ingest', figures)
