import assert from 'node:assert/strict'
import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import t from 'tap'
import { encodeBase58 } from '../../../src/chain/base58.ts'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import { contentsOf, liveThrough, slotClock } from './lived-chain.ts'
import { blockAt, funded, lamportsOf, produce, SOL } from './sending.ts'
import { virtualClock } from '../../virtual-time.ts'
import { childLife, type KillAfter } from '../../child-life.ts'
import { IS_LONG } from '../../random-runs.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

const SLOTS = 60
const RANDOM_KILLS = IS_LONG ? 12 : 4
const directory = t.testdir()

const open = (place: string): Promise<LocalBank> =>
  LocalBank.open({ clock: slotClock(), seed: 'crash', directory: place, retainedSlots: 512 })

/** Returns the content of an undisturbed chain after a number of slots. */
async function undisturbed(slots: number): Promise<ReturnType<typeof contentsOf>> {
  const clock = slotClock()
  const bank = await LocalBank.open({ clock, seed: 'crash', retainedSlots: 512 })
  await liveThrough(bank, clock, slots)
  return contentsOf(bank)
}

const CHILD = join(import.meta.dirname, 'chain-child.ts')

/** Runs the child until it ends. `killAt` has it kill itself, `killAfter` kills it. */
const live = (place: string, options: { killAt?: readonly [string, number]; killAfter?: KillAfter } = {}) =>
  childLife(CHILD, [place, SLOTS, ...(options.killAt ?? [])], options.killAfter)

/** Asserts that the remaining chain has every block that was reported as confirmed or finalized. */
async function assertRetained(place: string, lines: readonly string[]): Promise<number> {
  const bank = await open(place)
  for (const line of lines) {
    const [commitment, slot, blockhash] = line.split(' ') as [
      'processed' | 'confirmed' | 'finalized',
      string,
      string
    ]
    if (commitment === 'processed' || line === 'done') continue
    const answer = bank.block(Number(slot), commitment)
    assert.equal(answer.kind, 'block', line)
    if (answer.kind === 'block') assert.equal(encodeBase58(answer.block.blockhash), blockhash)
  }
  const head = bank.slot('processed')
  const { blocks, ...rest } = contentsOf(bank)
  if (head > 0) {
    const expected = await undisturbed(head)
    assert.deepEqual(blocks, expected.blocks)
    assert.deepEqual(
      rest,
      { accounts: expected.accounts, note: expected.note },
      'accounts are those of the last block'
    )
  }
  await bank.close()
  return head
}

const instants = [
  ['processed', 1],
  ['processed', 20],
  ['confirmed', 20],
  ['finalized', 20]
] as const

for (const [commitment, slot] of instants)
  t.test(
    `killed when slot ${slot} is told as ${commitment}, the chain goes on as if undisturbed`,
    async (t) => {
      const place = join(directory, `${commitment}-${slot}`)
      const { lines, signal } = await live(place, { killAt: [commitment, slot] })
      t.equal(signal, 'SIGKILL')
      t.match(lines.at(-1), `${commitment} ${slot}`, 'it was killed there')
      const head = await assertRetained(place, lines)
      // A processed block is not on disk yet; a confirmed or finalized one stands on durable blocks.
      t.equal(head, commitment === 'processed' ? slot - 1 : slot + (commitment === 'confirmed' ? 1 : 32))
      t.equal((await live(place)).lines.at(-1), 'done')
      t.equal(await assertRetained(place, []), SLOTS)
    }
  )

t.test(
  `killed at ${RANDOM_KILLS} random instants and restarted each time, the chain ends as if undisturbed`,
  async (t) => {
    const place = join(directory, 'random')
    let kills = 0
    for (let round = 0; round < RANDOM_KILLS; round++) {
      const { lines, signal } = await live(place, {
        killAfter: { lines: 1 + Math.floor(Math.random() * 14), ms: Math.random() * 12 }
      })
      if (signal === 'SIGKILL') kills++
      await assertRetained(place, lines)
    }
    t.ok(kills > 0, `${kills} kills`)
    await live(place)
    t.equal(await assertRetained(place, []), SLOTS)
  }
)

t.test('a chain that lost the last bytes of its log goes on at the slot before', async (t) => {
  const place = join(directory, 'torn')
  await live(place, { killAt: ['processed', 31] })
  const log = readdirSync(place).find((name) => name.endsWith('.log'))!
  truncateSync(join(place, log), statSync(join(place, log)).size - 10)
  t.equal(await assertRetained(place, []), 29)
  t.equal((await live(place)).lines.at(-1), 'done')
  t.equal(await assertRetained(place, []), SLOTS)
})

t.test('a chain that is open is opened by nobody else, and a closed one makes no slot', async (t) => {
  const place = join(directory, 'locked')
  const bank = await open(place)
  await t.rejects(open(place), {
    message: /open already/,
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE
  })
  await bank.produceSlot()
  await bank.close()
  await t.rejects(bank.produceSlot(), { message: /closed/ })
  const again = await open(place)
  t.equal(again.slot('processed'), 1)
  await again.close()
})

t.test('a chain is not opened with another seed', async (t) => {
  const place = join(directory, 'seed')
  await (await open(place)).close()
  const other = LocalBank.open({ clock: slotClock(), seed: 'other', directory: place })
  await t.rejects(other, { message: /another seed/ })
  await (await open(place)).close()
})

t.test('a chain of an unknown format is not opened, and says so', async (t) => {
  const place = join(directory, 'format')
  await (await open(place)).close()
  const level = new ClassicLevel(place)
  await level.put('h', JSON.stringify({ ...JSON.parse((await level.get('h'))!), format: 2 }))
  await level.close()
  await t.rejects(open(place), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE,
    message: /has format 2, and this version reads format 1: start the version that wrote it/
  })
})

t.test(
  'after a restart commitments are where they were, and settle on with the blocks of before',
  async (t) => {
    const place = join(directory, 'settled')
    const options = { clock: virtualClock(), seed: 'x', directory: place }
    const bank = await LocalBank.open(options)
    const owner = await funded(bank, 1)
    await produce(bank, 39)
    bank.faults.fork('drop')
    await produce(bank, 1)
    const before = (['processed', 'confirmed', 'finalized'] as const).map((one) => bank.slot(one))
    t.same(before, [41, 39, 8])
    const lost = blockAt(bank, 41)
    await bank.close()

    const again = await LocalBank.open(options)
    t.same(
      (['processed', 'confirmed', 'finalized'] as const).map((one) => again.slot(one)),
      [41, 41, 41],
      'what is on disk is final'
    )
    t.same(again.block(40, 'processed'), { kind: 'skipped' })
    t.same(blockAt(again, 41), lost)
    const told: string[] = []
    again.listen((event) => {
      if (event.kind === 'block')
        told.push(`${event.commitment} ${event.block.slot} ${event.accounts.length}`)
    })
    again.airdrop(owner.publicKey.toBytes(), SOL)
    await again.produceSlot()
    t.same(told, ['processed 42 2'])
    t.equal(lamportsOf(again, owner.publicKey), 11n * SOL)
    await again.close()
  }
)
