import fc from 'fast-check'
import t from 'tap'
import { RecentRows } from '../../actors/holders/recent-rows.ts'
import { fold, rollBack, storeBlock, writeRows } from '../../actors/holders/list-store.ts'
import { pubkeyMapKey, type Pubkey } from '../../src/chain/pubkey.ts'
import type { BalanceChange, MintChanges } from '../../src/holders/balance-changes.ts'
import { ListReads, type ListRead } from '../../src/holders/list-reads.ts'
import { SUMS_KEY, wholeList } from '../../src/holders/list-rows.ts'
import {
  BASE_SLOT,
  inRankKey,
  unpackCount,
  unpackSlotSums,
  type HeldBalance
} from '../../src/holders/row-bytes.ts'
import type { HolderRow, HolderRowKey, HolderStore } from '../../storage/port.ts'
import { openForTest } from '../storage/embedded-under-test.ts'
import { randomRuns } from '../random-runs.ts'

const MINT = new Uint8Array(32).fill(1)
const FROM_SLOT = 10
const address = (kind: number, n: number): Pubkey => new Uint8Array(32).fill(kind).fill(n, 31)

/** Balances by account. */
type Balances = ReadonlyMap<string, readonly [Pubkey, HeldBalance]>

/** A store that dies at a write, and counts the rows that it puts and deletes. */
class DyingRows {
  /** Writes until it dies, the last of which is done in part. */
  left = Infinity
  puts = 0
  deletes = 0
  readonly store: HolderStore

  constructor(store: HolderStore) {
    this.store = {
      at: async (...args) => store.at(...args),
      page: async (...args) => store.page(...args),
      clear: async (list) => store.clear(list),
      put: async (list, rows) => {
        await this.#write(rows, async (done: readonly HolderRow[]) => store.put(list, done))
        this.puts += rows.length
      },
      drop: async (list, rows) => {
        await this.#write(rows, async (done: readonly HolderRowKey[]) => store.drop(list, done))
        this.deletes += rows.length
      }
    }
  }

  async #write<T>(rows: readonly T[], write: (rows: readonly T[]) => Promise<void>): Promise<void> {
    if (--this.left > 0) return write(rows)
    await write(rows.slice(0, Math.floor(rows.length / 2)))
    throw new Error('it died, on purpose')
  }
}

/** The changes from one state of balances to another. */
function changesTo(before: Balances, after: Balances): MintChanges {
  const accounts = new Map<string, BalanceChange>()
  for (const [key, [account]] of [...before, ...after]) {
    if (accounts.has(key)) continue
    const [was, is] = [before.get(key)?.[1] ?? null, after.get(key)?.[1] ?? null]
    if (was?.amount === is?.amount && was?.owner === is?.owner) continue
    accounts.set(key, { account, before: was?.amount ?? 0n, after: is })
  }
  return { accounts, fault: null }
}

interface Shape {
  readonly accounts: readonly string[]
  readonly owners: readonly string[]
}

const textOf = (amount: bigint, of: Pubkey, rest: number): string => `${amount} ${of[0]}/${of[31]} ${rest}`
const byRank = (a: { amount: bigint; of: Pubkey }, b: { amount: bigint; of: Pubkey }): number =>
  a.amount === b.amount ? Buffer.compare(a.of, b.of) : a.amount > b.amount ? -1 : 1

function shapeOf(balances: Balances): Shape {
  const held = [...balances.values()].map(([of, { amount, owner }]) => ({ of, amount, owner }))
  const owners = [...Map.groupBy(held, ({ owner }) => pubkeyMapKey(owner)).values()].map((all) => ({
    of: all[0]!.owner,
    amount: all.reduce((sum, { amount }) => sum + amount, 0n),
    rest: all.length
  }))
  return {
    accounts: held.toSorted(byRank).map(({ amount, of, owner }) => textOf(amount, of, owner[31]!)),
    owners: owners.toSorted(byRank).map(({ amount, of, rest }) => textOf(amount, of, rest))
  }
}

async function readShape(reads: ListReads, read: ListRead, limit: number): Promise<Shape> {
  const all = async (kind: 'account-rank' | 'owner-rank'): Promise<string[]> => {
    const found: string[] = []
    for (let after: Uint8Array | undefined; ;) {
      const { rows, hasMore } = await reads.ranked(read, kind, { after, limit })
      for (const { key, value } of rows) {
        const { amount, address: of } = inRankKey(key)
        found.push(textOf(amount, of, kind === 'owner-rank' ? unpackCount(value) : value[31]!))
      }
      if (!hasMore) return found
      after = rows.at(-1)!.key
    }
  }
  return { accounts: await all('account-rank'), owners: await all('owner-rank') }
}

const OWNERS = [0, 1, 2].map((n) => address(3, n))
const balance = fc.record({
  account: fc.nat(5),
  owner: fc.nat(2),
  amount: fc.constantFrom(0n, 1n, 2n, 5n, 300n, 2n ** 40n)
})
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant('block' as const),
      to: fc.array(balance, { minLength: 1, maxLength: 4 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('fold' as const),
      back: fc.nat(1),
      diesAt: fc.option(fc.integer({ min: 1, max: 9 }))
    })
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('roll back' as const), back: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('restart' as const) }) }
)

t.test('a list reads as its blocks at every slot, though folds die at any write', async (t) => {
  const { holders } = (await openForTest(t.testdir())(t)).storage
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 8, maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, limit) => {
        const list = { mint: MINT, reading: ++run }
        const dying = new DyingRows(holders)
        let balances: Balances = new Map()
        const states = new Map<number, Balances>([[FROM_SLOT, balances]])
        for (const rows of wholeList([], FROM_SLOT, 100)) await writeRows(holders, list, rows)
        let recent = new RecentRows(dying.store)
        let overlay = await rollBack(holders, list, FROM_SLOT)
        let slot = FROM_SLOT
        let oldestSlot = FROM_SLOT
        let rollbacks = 0
        const cached = new ListReads(holders)
        const check = async (): Promise<boolean> => {
          for (const [at, expected] of states) {
            if (at < oldestSlot || at > slot) continue
            const read = { ...list, slot: at, oldestSlot, rollbacks }
            for (const reads of [cached, new ListReads(holders)]) {
              const found = await readShape(reads, read, limit)
              if (JSON.stringify(found) !== JSON.stringify(shapeOf(expected))) return false
            }
          }
          return true
        }
        for (const each of steps) {
          if (each.act === 'block') {
            const next = new Map(balances)
            for (const { account, owner, amount } of each.to) {
              const of = address(2, account)
              if (amount === 0n) next.delete(pubkeyMapKey(of))
              else next.set(pubkeyMapKey(of), [of, { owner: OWNERS[owner]!, amount }])
            }
            slot++
            const outcome = await storeBlock(recent, list, overlay, slot, changesTo(balances, next))
            if ('fault' in outcome || outcome.accounts !== next.size) return false
            balances = next
            states.set(slot, next)
          } else if (each.act === 'fold') {
            oldestSlot = Math.max(oldestSlot, slot - each.back)
            dying.left = each.diesAt ?? Infinity
            const folded = await fold(recent, dying.store, list, overlay, oldestSlot).then(
              () => true,
              () => false
            )
            dying.left = Infinity
            if (!folded) {
              if (!(await check())) return false
              recent = new RecentRows(dying.store)
              overlay = await rollBack(holders, list, slot)
              await fold(recent, holders, list, overlay, oldestSlot)
            }
          } else if (each.act === 'roll back') {
            slot = Math.max(oldestSlot, slot - each.back)
            rollbacks++
            for (const at of states.keys()) if (at > slot) states.delete(at)
            balances = states.get(slot)!
            overlay = await rollBack(holders, list, slot)
          } else {
            recent = new RecentRows(dying.store)
            overlay = await rollBack(holders, list, slot)
          }
          if (!(await check())) return false
        }
        // All blocks folded, the snapshot alone is the list.
        await fold(recent, dying.store, list, overlay, slot)
        oldestSlot = slot
        if (!(await check()) || overlay.size > 0) return false
        const [sums] = await holders.at(list, 'sums', BASE_SLOT, [SUMS_KEY])
        const { accounts, owners, held } = unpackSlotSums(sums!.value).sums
        const shape = shapeOf(balances)
        const total = [...balances.values()].reduce((sum, [, { amount }]) => sum + amount, 0n)
        return accounts === shape.accounts.length && owners === shape.owners.length && held === total
      }
    ),
    randomRuns(30)
  )
})

t.test('a block is one row, and a fold writes an account once however often it has changed', async (t) => {
  const { holders } = (await openForTest(t.testdir())(t)).storage
  const list = { mint: MINT, reading: 1 }
  const counted = new DyingRows(holders)
  const COUNT = 60
  const CHANGED = 8
  const BLOCKS = 150
  let balances: Balances = new Map(
    Array.from({ length: COUNT }, (_, n) => {
      const of = address(2, n)
      return [pubkeyMapKey(of), [of, { owner: address(3, n), amount: BigInt(1_000 + n) }]] as const
    })
  )
  for (const rows of wholeList(balances.values(), FROM_SLOT, 1_000)) await writeRows(holders, list, rows)
  const recent = new RecentRows(counted.store)
  const overlay = await rollBack(counted.store, list, FROM_SLOT)
  for (let block = 1; block <= BLOCKS; block++) {
    const next = new Map(balances)
    for (let i = 0; i < CHANGED; i++) {
      const of = address(2, (block * CHANGED + i) % COUNT)
      const before = next.get(pubkeyMapKey(of))![1]
      next.set(pubkeyMapKey(of), [of, { ...before, amount: before.amount + 7n }])
    }
    const outcome = await storeBlock(recent, list, overlay, FROM_SLOT + block, changesTo(balances, next))
    t.strictSame(outcome, { accounts: COUNT })
    balances = next
  }
  t.strictSame([counted.puts, counted.deletes], [BLOCKS, 0], 'one row a block, and none is deleted')
  await fold(recent, counted.store, list, overlay, FROM_SLOT + BLOCKS)
  // Versions by slot took six rows and six deletions for each of the 1,200 changes, and two of each a block.
  t.strictSame([counted.puts - BLOCKS, counted.deletes], [4 * COUNT + 1, 2 * COUNT + BLOCKS])
})
