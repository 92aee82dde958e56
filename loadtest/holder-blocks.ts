/**
 * Measures what holder lists cost ingest, in CPU time of the whole process: the lists of the 20 mints with the most changed
 * balances of the recorded mainnet block. The recorded block comes again under each slot, in turn into three stores: with
 * the lists' rows, with only the search for changed balances, and without both. Balances go back and forth, so that each
 * block changes them. A fold of the blocks into the snapshot happens as often as in the service.
 *
 *     node loadtest/holder-blocks.ts [blocks] [--small]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fold, storeBlock, writeRows } from '../actors/holders/list-store.ts'
import { RecentRows } from '../actors/holders/recent-rows.ts'
import { pubkeyOfMapKey, type Pubkey } from '../src/chain/pubkey.ts'
import { balanceChanges, type MintChanges } from '../src/holders/balance-changes.ts'
import { HolderBlocks } from '../src/holders/holder-blocks.ts'
import { ListOverlay } from '../src/holders/list-overlay.ts'
import { wholeList } from '../src/holders/list-rows.ts'
import type { HeldBalance } from '../src/holders/row-bytes.ts'
import { setServingHeap } from '../src/kernel/memory/serving-heap.ts'
import { openEmbeddedStorage } from '../storage/embedded/store.ts'
import { loneIngester } from '../test/actors/ingest/lone-ingester.ts'
import { readBlock, RECORDED_SLOT, recordedBlockText, repeated } from './recorded-block.ts'
import { reported, writeResult } from './result.ts'

const LISTS = 20
const WARM_UP = 50
/** Blocks of a minute, after which a service folds. */
const FOLD_BLOCKS = 150
const READINGS = 20
/** Maximum slowdown of a block, with its reading from JSON, which a source does before. */
const BAR = 0.08

setServingHeap(false)
const { values, positionals } = parseArgs({ allowPositionals: true, options: { small: { type: 'boolean' } } })
const blocks = Number(positionals[0] ?? (values.small === true ? 60 : 3 * FOLD_BLOCKS))
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

/** Balances after the block. */
function balancesOf({ accounts }: MintChanges): (readonly [Pubkey, HeldBalance])[] {
  return [...accounts.values()].flatMap(({ account, before, after }) =>
    before === 0n ? [] : [[account, { owner: after?.owner ?? account, amount: before }] as const]
  )
}

class Side {
  cpuMicros = 0
  taken = 0
  readonly #take: (place: number) => Promise<void>
  readonly end: () => Promise<void>

  private constructor(take: (place: number) => Promise<void>, end: () => Promise<void>) {
    this.#take = take
    this.end = end
  }

  async take(place: number): Promise<void> {
    const before = process.cpuUsage()
    await this.#take(place)
    const { user, system } = process.cpuUsage(before)
    this.cpuMicros += user + system
    this.taken++
  }

  static async open(holders: 'none' | 'changes' | 'lists'): Promise<Side> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-holder-blocks-'))
    const storage = await openEmbeddedStorage({ directory })
    const held = new HolderBlocks()
    if (holders !== 'none') held.begin()
    held.want(new Set(back.keys()))
    const recent = new RecentRows(storage.holders)
    const lists = [...back.keys()].map((key) => ({
      ...{ key, id: { mint: pubkeyOfMapKey(key), reading: 1 }, overlay: new ListOverlay() }
    }))
    for (const { key, id } of lists)
      for (const rows of wholeList(balancesOf(back.get(key)!), RECORDED_SLOT - 1, 1_000))
        await writeRows(storage.holders, id, rows)
    const ingester = await loneIngester(storage, undefined, undefined, [held])
    let stored = 0
    const follow = async (place: number): Promise<void> => {
      for (const event of held.take()) {
        if (event.kind !== 'block') throw new Error(`blocks were ${event.kind}`)
        if (holders !== 'lists') continue
        const { slot, changes } = event.block
        const outcomes = await Promise.all(
          lists.map(({ key, id, overlay }) =>
            storeBlock(recent, id, overlay, slot, (place % 2 === 1 ? changes : back).get(key)!)
          )
        )
        for (const outcome of outcomes) if ('fault' in outcome) throw new Error(outcome.fault)
        stored++
        if (stored % FOLD_BLOCKS === 0)
          for (const { id, overlay } of lists) await fold(recent, storage.holders, id, overlay, slot)
      }
    }
    return new Side(
      async (place) => {
        const block = blockAt(place)
        await ingester.ingest({ block, commitment: 'confirmed', receivedAtMs: block.blockTime * 1000 })
        await follow(place)
      },
      async () => {
        if (holders === 'lists' && stored < blocks) throw new Error(`${stored} blocks of lists were stored`)
        await storage.close()
        rmSync(directory, { recursive: true })
      }
    )
  }
}

const sides = [await Side.open('none'), await Side.open('changes'), await Side.open('lists')] as const
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
const [without, changes, lists] = reported('ms a block', sides.map(msOf)) as [number, number, number]
const slower = (ms: number) => ({
  ...{ added_ms: ms - without, slower: (ms - without) / without },
  slower_with_reading: (ms - without) / (without + readMs)
})
const figures = {
  load_of_the_machine: loadavg()[0],
  ...{ blocks, lists: LISTS },
  changed_accounts_of_them_a_block: forth.reduce((sum, [, { accounts }]) => sum + accounts.size, 0),
  cpu_ms_a_block: { without, read_from_json: readMs },
  ...{ changes: slower(changes), lists_rows: slower(lists), bar: BAR }
}
if (values.small === true) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
else await writeResult('holder-blocks', figures)
