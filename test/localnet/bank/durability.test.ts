import t from 'tap'
import { LocalBank } from '../../../src/localnet/bank/bank.ts'
import type { ChainStore, SlotWrite } from '../../../src/localnet/bank/bank-store.ts'
import { advance, settle, virtualClock } from '../../virtual-time.ts'
import { included } from './market-entries.ts'
import { openBank } from './sending.ts'
import { ERRORS } from '../../../src/kernel/errors.ts'

/** A store whose writes complete when the test says so; writes of the genesis complete at once. */
class HeldStore implements ChainStore {
  readonly written: SlotWrite[] = []
  #answers: PromiseWithResolvers<void>[] = []

  load(): Promise<null> {
    return Promise.resolve(null)
  }

  write(slot: SlotWrite): Promise<void> {
    this.written.push(slot)
    if (this.written.length === 1) return Promise.resolve()
    this.#answers.push(Promise.withResolvers())
    return this.#answers.at(-1)!.promise
  }

  block(slot: number): Uint8Array {
    const blocks = this.written.flatMap((write) => write.blocks)
    return blocks.find(({ packed }) => packed.header.slot === slot)!.packed.bytes
  }

  /** Completes the oldest write. */
  answer(error?: Error): Promise<void> {
    const next = this.#answers.shift()!
    if (error === undefined) next.resolve()
    else next.reject(error)
    return settle()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

async function heldBank(
  clock = virtualClock()
): Promise<{ bank: LocalBank; store: HeldStore; told: string[] }> {
  const store = new HeldStore()
  const options = { clock, seed: 'held', directory: 'none' }
  const bank = await LocalBank.open(options, () => Promise.resolve(store))
  const told: string[] = []
  bank.listen((event) => {
    if (event.kind === 'block') told.push(`${event.commitment} ${event.block.slot}`)
  })
  return { bank, store, told }
}

t.test('a block is confirmed once it and the next one are on disk, and not before', async (t) => {
  const { bank, store, told } = await heldBank()
  const made = [bank.produceSlot(), bank.produceSlot(), bank.produceSlot()]
  t.same(told, ['processed 1', 'processed 2', 'processed 3'])
  await settle()
  t.equal(store.written.length, 2, 'one write at a time')
  await store.answer()
  t.same(told.slice(3), [])
  await store.answer()
  t.same(told.slice(3), ['confirmed 1'])
  t.equal(bank.slot('confirmed'), 1)
  await store.answer()
  t.same(told.slice(3), ['confirmed 1', 'confirmed 2'])
  await Promise.all(made)
})

t.test('a chain whose write fails makes no further slot, says why and ends its run', async (t) => {
  const { bank, store, told } = await heldBank()
  const made = [bank.produceSlot(), bank.produceSlot()]
  await settle()
  const rejections = made.map((slot) =>
    t.rejects(slot, { name: 'ServiceError', kind: ERRORS.STORAGE_UNAVAILABLE })
  )
  await store.answer(new Error('no space left'))
  await Promise.all(rejections)
  t.equal(store.written.length, 2, 'the slot after it is not written')
  t.same(told, ['processed 1', 'processed 2'])
  await t.rejects(bank.produceSlot(), { cause: { message: 'no space left' } })
})

t.test('the run of a chain whose write fails rejects', async (t) => {
  const clock = virtualClock()
  const { bank, store } = await heldBank(clock)
  const rejected = t.rejects(bank.run(new AbortController().signal), {
    name: 'ServiceError',
    kind: ERRORS.STORAGE_UNAVAILABLE
  })
  await advance(clock, 400)
  await store.answer(new Error('no space left'))
  await rejected
})

t.test('slots that the disk does not take are refused from the 17th on', async (t) => {
  const { bank, store } = await heldBank()
  const made = Array.from({ length: 16 }, () => bank.produceSlot())
  await t.rejects(bank.produceSlot(), { message: /too slow/ })
  await settle()
  for (let i = 0; i < 16; i++) await store.answer()
  await Promise.all(made)
  t.equal(bank.slot('processed'), 16)
  const resumed = bank.produceSlot()
  await settle()
  await store.answer()
  await resumed
})

t.test('a market that throws ends the chain with its error', async (t) => {
  const bank = await openBank()
  bank.onSlot(() => {
    throw new Error('no such pool')
  })
  await t.rejects(bank.produceSlot(), { message: 'no such pool' })
  await t.rejects(bank.produceSlot(), { message: 'no such pool' })
})

t.test(
  'a market that includes a signature twice ends the chain, for one of them would be lost',
  async (t) => {
    const bank = await openBank()
    bank.include(included(1), [])
    await bank.produceSlot()
    bank.include(included(1), [])
    await t.rejects(bank.produceSlot(), RangeError)
  }
)
