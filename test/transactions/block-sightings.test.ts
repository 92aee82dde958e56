import fc from 'fast-check'
import t from 'tap'
import { encodeBase58 } from '../../src/chain/base58.ts'
import type { Block, Transaction } from '../../src/chain/transaction.ts'
import { WatchedSignatures } from '../../src/transactions/block-sightings.ts'
import type { SightedBlock } from '../../src/transactions/ports.ts'
import { RecentBlockhashes } from '../../src/transactions/recent-blockhashes.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { chain, forkAfter, openedOn, rollbackAfter, sourced } from '../actors/ingest/put-back-chain.ts'
import { pubkeyToBase58 } from '../../src/chain/pubkey.ts'
import { buildTransaction, keyOf, type CallSpec } from '../chain/build-transaction.ts'
import { randomRuns } from '../random-runs.ts'

const PLAIN = buildTransaction({ signers: ['11111111111111111111111111111112'], calls: [] })

/** A transaction whose signature is one byte 64 times, except for the last. */
const signed = (byte: number, last = byte): Transaction => ({
  ...PLAIN,
  signature: new Uint8Array(64).fill(byte).fill(last, 63)
})

const textOf = ({ signature }: Transaction): string => encodeBase58(signature)

function blockOf(slot: number, transactions: readonly Transaction[], height = slot - 10): Block {
  return {
    slot,
    blockTime: 0,
    parentSlot: slot - 1,
    blockhash: `hash ${slot}`,
    height,
    transactions,
    votes: 0
  }
}

function watching() {
  const sightings = new WatchedSignatures()
  const seen: SightedBlock[] = []
  const lost: number[] = []
  sightings.subscribe({ seen: (block) => void seen.push(block), lost: (after) => void lost.push(after) })
  return { sightings, seen, lost }
}

void t.test('a watched signature is seen at its place with its outcome, and no other one', (t) => {
  const { sightings, seen } = watching()
  const [one, almost, failed] = [signed(1), signed(1, 2), { ...signed(3), failed: true, index: 7 }]
  sightings.watch(textOf(one))
  sightings.watch(textOf(failed))
  const commit = sightings.read(sourced(blockOf(100, [signed(9), almost, one, failed])))
  t.strictSame(seen, [], 'nothing before the commit')
  commit()
  t.strictSame(seen, [
    {
      slot: 100,
      height: 90,
      blockhash: 'hash 100',
      commitment: 'confirmed',
      sightings: [
        { signature: textOf(one), slot: 100, index: 2, failed: false },
        { signature: textOf(failed), slot: 100, index: 7, failed: true }
      ],
      nonces: []
    }
  ])
  t.end()
})

void t.test('a use of a watched nonce account is seen, also by a transaction that failed', (t) => {
  const { sightings, seen } = watching()
  const advance = (account: string, program = '11111111111111111111111111111111', number = 4) => ({
    program,
    accounts: [account, 'recent blockhashes', 'authority'],
    data: Uint8Array.of(number, 0, 0, 0)
  })
  const using = (byte: number, calls: readonly CallSpec[], failed = false): Transaction => ({
    ...buildTransaction({ signers: ['payer', 'authority'], calls }),
    signature: new Uint8Array(64).fill(byte),
    lifetime: new Uint8Array(32).fill(byte),
    failed
  })
  const account = pubkeyToBase58(keyOf('nonce'))
  const other = advance('another')
  const one = using(1, [advance('nonce'), other], true)
  const unused = [
    using(2, [other, advance('nonce')]),
    using(3, [advance('nonce', 'a program')]),
    using(4, [advance('nonce', undefined, 5)]),
    using(5, []),
    { ...using(6, [advance('nonce')]), lifetime: undefined }
  ]
  const leave = [0, 1].map((at) => sightings.watch(textOf(signed(9, at)), account))
  const usesIn = (slot: number, ...transactions: Transaction[]) => {
    sightings.read(sourced(blockOf(slot, transactions)))()
    return seen.at(-1)!.nonces
  }
  const value = encodeBase58(new Uint8Array(32).fill(1))
  t.strictSame(usesIn(1, ...unused, one), [{ account, value, signature: textOf(one) }])
  leave[0]!()
  leave[0]!()
  t.equal(usesIn(2, one).length, 1)
  leave[1]!()
  t.strictSame(usesIn(3, one), [])
  t.end()
})

void t.test('a signature is watched until each of its watchers has left, once', (t) => {
  const { sightings, seen } = watching()
  const leave = [0, 1].map(() => sightings.watch(textOf(signed(1))))
  const found = (slot: number): number => {
    sightings.read(sourced(blockOf(slot, [signed(1)])))()
    return seen.at(-1)!.sightings.length
  }
  leave[0]!()
  leave[0]!()
  t.equal(found(1), 1)
  leave[1]!()
  t.equal(found(2), 0)
  t.throws(() => sightings.watch('abc'), RangeError)
  t.end()
})

void t.test('the newest block and its height follow commits, lost forks and late blocks', (t) => {
  const { sightings, lost } = watching()
  t.equal(sightings.newest, null)
  t.equal(sightings.heights, null)
  for (const slot of [100, 101, 103]) sightings.read(sourced(blockOf(slot, [])))()
  t.strictSame(sightings.heights, { first: 93, last: 93 }, 'a height is missing below')
  sightings.read(sourced(blockOf(102, [])))()
  t.strictSame(sightings.newest, { slot: 103, height: 93 }, 'a late block changes nothing')
  t.strictSame(sightings.heights, { first: 90, last: 93 }, 'it fills the gap')
  t.equal(sightings.lastValidBlockHeight('hash 101'), 91 + 150)
  sightings.lost(101)
  t.strictSame(lost, [101])
  t.strictSame(sightings.newest, { slot: 101, height: 91 })
  t.strictSame(sightings.heights, { first: 90, last: 91 })
  t.equal(sightings.lastValidBlockHeight('hash 103'), null, 'a hash of a lost fork is unknown')
  const { height: _, ...unnumbered } = blockOf(104, [])
  sightings.read(sourced(unnumbered))()
  t.strictSame(sightings.newest, { slot: 104, height: null }, 'a height is never guessed')
  t.equal(sightings.lastValidBlockHeight('hash 104'), null)
  t.end()
})

void t.test('the blockhashes known are those of the 300 highest slots, whatever order they come in', (t) => {
  const step = fc.oneof(
    { weight: 40, arbitrary: fc.record({ add: fc.integer({ min: 0, max: 700 }) }) },
    { weight: 1, arbitrary: fc.record({ forget: fc.integer({ min: 0, max: 700 }) }) }
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1200, size: 'max' }), (steps) => {
      const hashes = new RecentBlockhashes()
      let naive = new Map<number, string>()
      for (const [at, each] of steps.entries()) {
        if ('add' in each) {
          const blockhash = `${each.add} ${at}`
          hashes.add({ slot: each.add, height: each.add, blockhash })
          naive.set(each.add, blockhash)
          if (naive.size > 300) naive.delete(Math.min(...naive.keys()))
        } else {
          hashes.forget(each.forget)
          naive = new Map([...naive].filter(([slot]) => slot <= each.forget))
        }
      }
      for (const [slot, blockhash] of naive)
        if (hashes.lastValidBlockHeight(blockhash) !== slot + 150) return false
      for (const [at, each] of steps.entries())
        if ('add' in each && naive.get(each.add) !== `${each.add} ${at}`)
          if (hashes.lastValidBlockHeight(`${each.add} ${at}`) !== null) return false
      return hashes.newest?.slot === (naive.size === 0 ? undefined : Math.max(...naive.keys()))
    }),
    randomRuns(30)
  )
  t.end()
})

void t.test('ingest shows each block once it is stored, and tells of lost forks and rollbacks', async (t) => {
  const storage = await openEmbeddedStorage({ directory: t.testdir() })
  t.teardown(() => storage.close())
  const { ingester, committedBlocks } = await openedOn(storage)
  const told: (string | { lost: number })[] = []
  committedBlocks.subscribe({
    read: ({ block }) => {
      t.not(told.at(-1), block.blockhash, 'not told before its commit')
      return () => void told.push(block.blockhash!)
    },
    lacks: () => false,
    recall: () => undefined,
    lost: (afterSlot) => void told.push({ lost: afterSlot })
  })
  const fork = forkAfter(9, 3, 'f')
  await Promise.all([...chain.slice(0, 10), ...fork].map((block) => ingester.ingest(sourced(block))))
  const stored = [...chain.slice(0, 10), ...fork].map(({ blockhash }) => blockhash!)
  t.strictSame(told.splice(0), stored)
  const { block, next } = rollbackAfter(9, fork.at(-1)!.slot)
  await ingester.ingest(block)
  const replaced = chain.slice(10, next + 1).map(({ blockhash }) => blockhash!)
  t.strictSame(told.splice(0), [{ lost: chain[9]!.slot }, ...replaced], 'a rollback')
  const [lost] = forkAfter(next, 1, 'g')
  await ingester.ingest(sourced(lost!))
  const after = { ...chain[next + 2]!, slot: lost!.slot + 1, parentSlot: chain[next]!.slot }
  await ingester.ingest(sourced(after))
  t.strictSame(
    told.splice(0),
    [lost!.blockhash!, { lost: chain[next]!.slot }, after.blockhash!],
    'a block that does not follow the newest one'
  )
})
