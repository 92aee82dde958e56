import fc from 'fast-check'
import t from 'tap'
import { FactWriter } from '../../../src/archive/facts/fact-writer.ts'
import { newState, StoredState } from '../../../src/archive/facts/import-state.ts'
import { MintDecimals } from '../../../src/archive/facts/mint-decimals.ts'
import { untimedSlots } from '../../../src/archive/facts/untimed-slots.ts'
import { timeSlots, TimeTally } from '../../../src/archive/commands/slot-timing.ts'
import { nodeNumber, type SlotTimes, type TimeAnswer } from '../../../src/archive/commands/time-node.ts'
import { RPC_CODE, type NodeFault } from '../../../src/node/node-fault.ts'
import { randomRuns } from '../../random-runs.ts'
import { block, NOON } from '../../market/world.ts'
import { archivedBlock, rowOf, signature } from '../facts/any-facts.ts'
import { MemoryFacts } from '../facts/memory-facts.ts'

type Answers = (slot: number, asked: number) => TimeAnswer

const timeOf = (slot: number): TimeAnswer => ({ kind: 'time', time: NOON + slot })
const failed = (fault: NodeFault): TimeAnswer => ({ kind: 'failed', fault })
const rpcError = (code: number): TimeAnswer => failed({ kind: 'rpc', code, message: 'no' })

/** A node that answers as a test says, and counts how often each slot was asked for. */
class ScriptedTimes implements SlotTimes {
  readonly name: string
  readonly number: number
  readonly slotsAtOnce: number
  readonly requests: (readonly number[])[] = []
  readonly asked = new Map<number, number>()
  readonly #answers: Answers

  constructor(answers: Answers = timeOf, name = 'node', slotsAtOnce = 3) {
    this.#answers = answers
    this.name = name
    this.number = nodeNumber(name)
    this.slotsAtOnce = slotsAtOnce
  }

  async times(slots: readonly number[]): Promise<TimeAnswer[]> {
    this.requests.push(slots)
    return slots.map((slot) => {
      const count = (this.asked.get(slot) ?? 0) + 1
      this.asked.set(slot, count)
      return this.#answers(slot, count)
    })
  }
}

/** Facts of an archive that take imports one after another. */
class World {
  readonly facts = new MemoryFacts()
  readonly #state = StoredState.begin(this.facts, newState(true))

  async writer(head: number | null = null): Promise<FactWriter> {
    return new FactWriter(this.facts, await this.#state, new MintDecimals(this.facts), head)
  }

  async state() {
    return (await this.#state).value
  }

  /** Stores a row of each slot, without a time. */
  async addUntimed(slots: readonly number[]): Promise<void> {
    const writer = await this.writer()
    for (const slot of slots) writer.addRow(rowOf({ slot, blockTime: null, signature: signature(slot) }))
    await writer.flush()
  }

  /** Runs one timing. Waits take no time. */
  async time(nodes: readonly SlotTimes[], head: number | null = null) {
    const tally = new TimeTally()
    const refused: string[] = []
    const waits: number[] = []
    let nowMs = 0
    await timeSlots(untimedSlots(this.facts, null), {
      nodes,
      tally,
      writer: await this.writer(head),
      signal: new AbortController().signal,
      onRefused: (line) => void refused.push(line),
      onProgress: () => undefined,
      random: () => 1,
      clock: {
        now: () => nowMs,
        setTimeout: (run, ms) => {
          waits.push(ms)
          nowMs += ms
          queueMicrotask(run)
        },
        clearTimeout: () => undefined
      }
    })
    return { given: tally.given, missing: Object.fromEntries(tally.missing), refused, waits }
  }
}

t.test('a slot gets its time, or the reason why it has none, and no answer is asked for twice', async (t) => {
  const world = new World()
  await world.addUntimed([1, 2, 3, 4, 5])
  const node = new ScriptedTimes((slot) =>
    slot === 2
      ? { kind: 'absent', reason: 'no-time' }
      : slot === 4
        ? { kind: 'absent', reason: 'no-block' }
        : timeOf(slot)
  )
  const first = await world.time([node])
  t.match(first, { given: 3, missing: { 'no-time': 1, 'no-block': 1 }, refused: [] })
  t.strictSame(
    node.requests,
    [
      [1, 2, 3],
      [4, 5]
    ],
    'in batches'
  )
  const again = await world.time([node])
  t.match(again, { given: 0, missing: { 'no-time': 1, 'no-block': 1 } }, 'counted again')
  t.equal(node.requests.length, 2, 'and not asked again')
})

t.test('slots that have a whole block or a timed row are not asked for', async (t) => {
  const world = new World()
  await world.addUntimed([1, 2, 3])
  const writer = await world.writer()
  writer.addRow(rowOf({ slot: 2, signature: signature(9) }))
  await writer.addBlock(archivedBlock(block(3, NOON, [])))
  writer.addRow(rowOf({ slot: null, signature: signature(10) }))
  await writer.flush()
  const node = new ScriptedTimes()
  t.match(await world.time([node]), { given: 1, missing: {} })
  t.strictSame(node.requests, [[1]])
})

t.test('a further node is asked for what the first one lacks, and another node later', async (t) => {
  const world = new World()
  await world.addUntimed([1, 2, 3])
  const absent: TimeAnswer = { kind: 'absent', reason: 'not-stored' }
  const one = new ScriptedTimes((slot) => (slot === 1 ? timeOf(slot) : absent), 'one')
  const two = new ScriptedTimes((slot) => (slot === 2 ? timeOf(slot) : absent), 'two')
  t.match(await world.time([one, two]), { given: 2, missing: { 'not-stored': 1 } })
  t.strictSame(two.requests, [[2, 3]])
  const three = new ScriptedTimes(timeOf, 'three')
  t.match(await world.time([one, three]), { given: 1, missing: {} })
  t.strictSame([one.requests.length, three.requests], [1, [[3]]])
})

t.test('a node without the method is asked once in a run', async (t) => {
  const world = new World()
  await world.addUntimed([1, 2, 3, 4, 5])
  const node = new ScriptedTimes(() => rpcError(RPC_CODE.methodNotFound))
  const { given, missing, refused } = await world.time([node])
  t.strictSame([given, missing], [0, { 'no-method': 5 }])
  t.match(refused, [/^node is not asked for further times: JSON-RPC error -32601/])
  t.equal(node.requests.length, 1)
  t.match(await world.time([new ScriptedTimes()]), { given: 5, missing: {} }, 'nothing was stored')
})

t.test(
  'a node is waited for as long as it demands, and abandoned after two minutes of silence',
  async (t) => {
    const world = new World()
    await world.addUntimed([1, 2, 3, 4])
    const throttled = failed({ kind: 'throttled', restMs: 7_000 })
    const busy = new ScriptedTimes((slot, asked) => (asked < 3 ? throttled : timeOf(slot)))
    const { given, waits } = await world.time([busy])
    t.strictSame([given, waits.slice(0, 2)], [4, [7_000, 7_000]])
    await world.addUntimed([11, 12, 13, 14])
    const silent = new ScriptedTimes(() => failed({ kind: 'timeout', afterMs: 10_000 }))
    const late = await world.time([silent])
    t.match(late, { given: 0, missing: { 'no-answer': 4 } })
    t.match(late.refused, [/no answer within 10000 ms/])
    t.ok(late.waits.reduce((sum, ms) => sum + ms) >= 120_000)
    t.match(await world.time([new ScriptedTimes()]), { given: 4, missing: {} }, 'a later run asks again')
  }
)

t.test('an error for one slot keeps no other slot from its time', async (t) => {
  const world = new World()
  await world.addUntimed([1, 2, 3, 4, 5, 6, 7])
  const node = new ScriptedTimes((slot, asked) => {
    if (slot === 2) return rpcError(RPC_CODE.blockNotAvailable)
    if (slot === 4) return rpcError(RPC_CODE.internalError)
    return slot === 5 && asked === 1 ? rpcError(RPC_CODE.internalError) : timeOf(slot)
  })
  t.match(await world.time([node]), { given: 5, missing: { 'no-answer': 2 }, refused: [] })
  t.strictSame(
    [2, 4, 5].map((slot) => node.asked.get(slot)),
    [1, 4, 2]
  )
})

t.test('a time before the head makes the store stale, and a missing one does not', async (t) => {
  const world = new World()
  await world.addUntimed([1, 2])
  const absent = new ScriptedTimes(() => ({ kind: 'absent', reason: 'no-time' }), 'absent')
  await world.time([absent], 10)
  t.notOk((await world.state()).isStale)
  await world.time([absent, new ScriptedTimes()], 10)
  t.ok((await world.state()).isStale)
})

t.test('an interrupted run stores what was answered, and the next one asks only for the rest', async (t) => {
  const property = fc.asyncProperty(
    fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 20 }),
    fc.array(fc.nat(4), { minLength: 1, maxLength: 8 }),
    fc.integer({ min: 1, max: 5 }),
    async (slots, kills, slotsAtOnce) => {
      const world = new World()
      await world.addUntimed(slots)
      const answer: Answers = (slot) =>
        slot % 3 === 0 ? { kind: 'absent', reason: 'no-time' } : timeOf(slot)
      const node = new ScriptedTimes(answer, 'node', slotsAtOnce)
      let killed = 0
      for (const kill of kills) {
        let left = kill
        world.facts.beforePut = async () => {
          if (left-- === 0) throw new Error('killed')
        }
        if (
          await world.time([node]).then(
            () => false,
            () => true
          )
        )
          killed++
      }
      world.facts.beforePut = async () => undefined
      const { missing } = await world.time([node])
      t.equal(missing['no-time'] ?? 0, slots.filter((slot) => slot % 3 === 0).length)
      const asked = [...node.asked.values()].reduce((sum, count) => sum + count, 0)
      t.ok(asked <= slots.length + killed * slotsAtOnce, 'a kill costs the request under way at most')
      const whole = new World()
      await whole.addUntimed(slots)
      await whole.time([new ScriptedTimes(answer)])
      t.strictSame(await timesOf(world.facts), await timesOf(whole.facts))
    }
  )
  await fc.assert(property, randomRuns(80))
})

async function timesOf(facts: MemoryFacts): Promise<unknown[]> {
  const all = []
  for await (const some of facts.from('time', 0)) all.push(...some)
  return all
}
