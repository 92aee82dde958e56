import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { ingestFrom } from '../../../actors/ingest/ingest.ts'
import { IN_FLIGHT_MAX } from '../../../actors/ingest/ingester.ts'
import type { SourcedBlock } from '../../../src/node/block-source.ts'
import { decodeTransaction } from '../../../src/chain/decode.ts'
import type { Block, Instruction } from '../../../src/chain/transaction.ts'
import { VENUE_IDS } from '../../../src/chain/venue-id.ts'
import { VENUES_BY_PROGRAM } from '../../../src/chain/venues.ts'
import { DecodingReport } from '../../../src/ingest/decoding-report.ts'
import { openEmbeddedStorage } from '../../../storage/embedded/store.ts'
import type { Storage } from '../../../storage/port.ts'
import { recordsOf } from '../../storage/embedded-directory.ts'
import { loneIngester } from './lone-ingester.ts'
import { marketBlocks } from './market-blocks.ts'

const blocks = await marketBlocks('blocks under way', 60)
const sourced = (block: Block): SourcedBlock => ({ block, commitment: 'confirmed', receivedAtMs: 1 })
const logger = pino({ level: 'silent' })

/** Wraps a store: commits wait for the test, and calls and commits are logged in order. */
function heldBack(storage: Storage) {
  const log: string[] = []
  const waiting: (() => void)[] = []
  let isOpen = false
  const commit: Storage['blocks']['commit'] = async (...block) => {
    const { slot } = block[0].slot
    log.push(`given ${slot}`)
    await new Promise<void>((resolve) => (isOpen ? resolve() : waiting.push(resolve)))
    const written = await storage.blocks.commit(...block)
    log.push(`committed ${slot}`)
    return written
  }
  const amend: Storage['history']['amend'] = (...change) => {
    log.push('amended')
    return storage.history.amend(...change)
  }
  const release = (): void => {
    isOpen = true
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { log, release, writes: { commit, history: { amend } } }
}

async function opened(t: Test, directory = t.testdir()): Promise<Storage> {
  const storage = await openEmbeddedStorage({ directory })
  t.teardown(() => storage.close())
  return storage
}

/** Lets everything run that does not wait for the store. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await yieldToEventLoop()
}

// INVARIANTS 6
t.test(
  'blocks folded while those before are under way are stored as if each had been waited for',
  async (t) => {
    // Times repeatedly fall back into an earlier minute, whose candles a block in flight has evicted.
    const shaken = blocks.map((block, at) => ({
      ...block,
      blockTime: 1_790_000_039 + (at % 2) + Math.floor(at / 9) * 7
    }))
    const [one, several] = [t.testdir({ one: {} }) + '/one', t.testdir({ several: {} }) + '/several']
    const first = await openEmbeddedStorage({ directory: one })
    const alone = await loneIngester(first)
    for (const block of shaken) await alone.ingest(sourced(block))
    await first.close()

    const second = await openEmbeddedStorage({ directory: several })
    const { log, release, writes } = heldBack(second)
    const ingester = await loneIngester(second, writes)
    const ingested = Promise.all(shaken.map((block) => ingester.ingest(sourced(block))))
    await settle()
    t.ok(log.length > 1, `${log.length} blocks are given before one is committed`)
    t.ok(log.length < shaken.length, 'one waits for what those before it change')
    release()
    await ingested
    await second.close()
    const [expected, found] = [await recordsOf(one), await recordsOf(several)]
    t.ok(expected.size > 200)
    t.strictSame(
      [...expected.keys(), ...found.keys()].filter((key) => expected.get(key) !== found.get(key)),
      [],
      `all ${expected.size} records are the same`
    )
  }
)

t.test('a change of what is stored waits until nothing is under way', async (t) => {
  const storage = await opened(t)
  const { log, release, writes } = heldBack(storage)
  const ingester = await loneIngester(storage, writes)
  const work = [
    ingester.ingest(sourced(blocks[0]!)),
    ingester.ingest(sourced(blocks[1]!)),
    ingester.insert([], { put: [], remove: [] }),
    ingester.ingest(sourced(blocks[2]!))
  ]
  await settle()
  const slots = blocks.map(({ slot }) => slot)
  t.strictSame(log, [`given ${slots[0]}`, `given ${slots[1]}`])
  release()
  await Promise.all(work)
  t.strictSame(log.slice(2), [
    ...[0, 1].map((at) => `committed ${slots[at]}`),
    'amended',
    ...['given', 'committed'].map((what) => `${what} ${slots[2]}`)
  ])
})

t.test('after a block that is not committed none is taken in, and each that was given fails', async (t) => {
  const storage = await opened(t)
  const answer = Promise.withResolvers<boolean>()
  const { writes } = heldBack(storage)
  let given = 0
  const commit: Storage['blocks']['commit'] = (...block) =>
    ++given === 2 ? answer.promise : storage.blocks.commit(...block)
  const ingester = await loneIngester(storage, { ...writes, commit })
  const ingested = blocks.slice(0, 4).map((block) => ingester.ingest(sourced(block)))
  const settled = Promise.allSettled(ingested)
  await settle()
  t.equal(given, 4)
  answer.reject(new Error('it fails on purpose'))
  const reason = 'Error: it fails on purpose'
  t.strictSame(
    (await settled).map((each) => (each.status === 'fulfilled' ? 'committed' : String(each.reason))),
    ['committed', reason, reason, reason]
  )
  for (const work of [
    () => ingester.ingest(sourced(blocks[4]!)),
    () => ingester.insert([], { put: [], remove: [] })
  ])
    await t.rejects(work(), { message: 'it fails on purpose' })
  t.equal(given, 4)
  t.equal((await storage.blocks.head())?.slot, blocks[0]!.slot, 'nothing is stored behind what is missing')
})

/** A source of all blocks that then waits for the end. Counts the blocks that were taken. */
function waitingSource() {
  const counts = { taken: 0 }
  const source = {
    async *blocks({ signal }: { readonly signal: AbortSignal }) {
      for (const block of blocks) {
        counts.taken++
        yield sourced(block)
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    }
  }
  return { counts, source }
}

t.test('a source is read ahead up to the limit, and each block is delivered when it arrives', async (t) => {
  const { counts, source } = waitingSource()
  const answers: PromiseWithResolvers<void>[] = []
  const give = (): Promise<void> => {
    answers.push(Promise.withResolvers())
    return answers.at(-1)!.promise
  }
  const ingested = { blocks: 0 }
  const end = new AbortController()
  const done = ingestFrom(null, source, give, ingested, logger, end.signal)
  await settle()
  t.strictSame([answers.length, counts.taken, ingested.blocks], [IN_FLIGHT_MAX, IN_FLIGHT_MAX + 1, 0])
  answers[0]!.resolve()
  await settle()
  t.strictSame([answers.length, ingested.blocks], [IN_FLIGHT_MAX + 1, 1])
  end.abort()
  let isDone = false
  void done.then(() => (isDone = true))
  await settle()
  t.notOk(isDone, 'it ends with those under way')
  for (const { resolve } of answers) resolve()
  await done
  t.strictSame([answers.length, ingested.blocks], [IN_FLIGHT_MAX + 1, IN_FLIGHT_MAX + 1])
})

t.test(
  'a block that fails ends ingest once the others are answered, whatever the source waits for',
  async (t) => {
    const { source } = waitingSource()
    const ingested = { blocks: 0 }
    const failing = async ({ block }: SourcedBlock): Promise<void> => {
      await yieldToEventLoop()
      if (block === blocks.at(-2)) throw new Error('it fails on purpose')
    }
    const end = new AbortController()
    await t.rejects(ingestFrom(null, source, failing, ingested, logger, end.signal), {
      message: 'it fails on purpose'
    })
    t.equal(ingested.blocks, blocks.length - 1)
  }
)

t.test('blocks whose node records no inner instructions are stored, and named as one gap', async (t) => {
  const storage = await opened(t)
  const ingester = await loneIngester(storage)
  const chain = await marketBlocks('unseen calls', 12)
  const unseen = chain.slice(3, 9)
  for (const { transactions } of unseen)
    for (const transaction of transactions) Object.assign(transaction, { unstated: ['inner-instructions'] })
  for (const block of chain) await ingester.ingest(sourced(block))
  const gaps = await storage.coverage.gaps({ after: null, limit: 10 })
  const named = gaps.flatMap(({ from, to, reason }) =>
    reason === 'inner-instructions-absent' ? unseen.filter(({ slot }) => slot >= from && slot <= to) : []
  )
  const calling = unseen.filter(({ transactions }) =>
    transactions.some((transaction) => decodeTransaction(transaction).notes.length > 0)
  )
  t.ok(calling.length > 1, 'some name a venue')
  for (const block of calling) t.ok(named.includes(block), `slot ${block.slot}`)
  t.ok(gaps.length < unseen.length, 'neighbours are joined')
  t.ok(
    gaps.every(({ from, to }) => from >= unseen[0]!.slot && to <= unseen.at(-1)!.slot),
    'no other block is'
  )
  t.equal((await storage.blocks.head())?.slot, chain.at(-1)!.slot)
})

t.test(
  'blocks in which tokens leave a known pool without a recorded call are stored, and named as gaps',
  async (t) => {
    const storage = await opened(t)
    const decoding = new DecodingReport()
    const ingester = await loneIngester(storage, undefined, decoding)
    const chain = await marketBlocks('moved vaults', 40)
    const cut = [chain[30]!, chain[31]!, chain[35]!]
    const counted = () =>
      VENUE_IDS.flatMap((venue) => {
        const missing = decoding.venues[venue].missing['vault-moved'] ?? 0
        return missing > 0 ? [`${venue} ${missing}`] : []
      })
    for (const block of chain.slice(0, 30)) await ingester.ingest(sourced(block))
    t.strictSame(counted(), [], 'no pool of the market moves by itself')
    for (const { transactions } of cut)
      for (const transaction of transactions) {
        const { instructions, keys } = transaction
        const isCall = ({ program }: Instruction) => keys.lookup(program, VENUES_BY_PROGRAM) !== undefined
        Object.assign(transaction, { instructions: instructions.filter((each) => !isCall(each)) })
      }
    for (const block of chain.slice(30)) await ingester.ingest(sourced(block))
    t.ok(counted().length > 2, counted().join())
    const gaps = await storage.coverage.gaps({ after: null, limit: 10 })
    for (const gap of gaps)
      t.match(gap, {
        reason: 'vault-moved',
        detail: /^tokens left pools of [a-z0-9, -]+ without a recorded call/
      })
    const slots = gaps.flatMap(({ from, to }) => chain.filter(({ slot }) => slot >= from && slot <= to))
    t.strictSame(
      slots.map(({ slot }) => slot),
      cut.map(({ slot }) => slot)
    )
    t.equal((await storage.blocks.head())?.slot, chain.at(-1)!.slot)
  }
)
