import fc from 'fast-check'
import t from 'tap'
import { DEFAULT_MEMORY_MB, isMemoryTight, memoryBudget } from '../../../src/kernel/config/memory-budget.ts'
import { randomRuns } from '../../random-runs.ts'

const MB = 2 ** 20
const setup = fc.record({
  memoryMb: fc.option(fc.integer({ min: 32, max: 100_000 })),
  source: fc.constantFrom('localnet', 'recorded', 'rpc', 'yellowstone'),
  storage: fc.constantFrom('embedded', 'scylla'),
  role: fc.subarray(['ingest', 'gateway', 'delivery'] as const, { minLength: 1 })
})

t.test(
  'the caches of a process have the whole budget between them and no more, whatever its setup',
  async (t) => {
    fc.assert(
      fc.property(setup, (given) => {
        const parts = Object.values(memoryBudget(given))
        const isLocalnet = given.source === 'localnet' && given.role.includes('ingest')
        const all = (given.memoryMb ?? DEFAULT_MEMORY_MB[isLocalnet ? 'localnet' : 'other']) * MB
        const sum = parts.reduce((total, bytes) => total + bytes, 0)
        return sum <= all && sum > all - parts.length
      }),
      randomRuns(100)
    )
    t.pass()
  }
)

t.test('a cache that a process does not have takes nothing of the budget', async (t) => {
  const alone = memoryBudget({
    memoryMb: 380,
    source: 'rpc',
    storage: 'embedded',
    role: ['ingest', 'gateway'],
    tokenImages: false
  })
  t.strictSame(alone, {
    answers: 130 * MB,
    making: 40 * MB,
    windows: 30 * MB,
    market: 30 * MB,
    records: 20 * MB,
    indexes: 0,
    engine: 20 * MB,
    programAccounts: 30 * MB,
    replays: 20 * MB,
    mints: 10 * MB,
    names: 20 * MB,
    offChain: 0,
    tokenImages: 0,
    pools: 10 * MB,
    rpcAnswers: 20 * MB,
    localnetBlocks: 0
  })
  const writer = memoryBudget({
    memoryMb: 90,
    source: 'rpc',
    storage: 'scylla',
    role: ['ingest'],
    tokenImages: true
  })
  t.match(writer, {
    answers: 0,
    making: 0,
    replays: 0,
    engine: 0,
    market: 30 * MB,
    records: 20 * MB,
    indexes: 40 * MB
  })
})

t.test('memory is tight on a localnet with the default budget or less, and nowhere else', async (t) => {
  const localnet: Parameters<typeof isMemoryTight>[0] = {
    memoryMb: null,
    source: 'localnet',
    storage: 'embedded',
    role: ['ingest', 'gateway']
  }
  t.equal(isMemoryTight(localnet), true)
  t.equal(isMemoryTight({ ...localnet, memoryMb: 64 }), true)
  t.equal(isMemoryTight({ ...localnet, memoryMb: 65 }), false)
  t.equal(isMemoryTight({ ...localnet, source: 'rpc', memoryMb: 64 }), false)
  t.equal(isMemoryTight({ ...localnet, role: ['gateway'] }), false)
})
