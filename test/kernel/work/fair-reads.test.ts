import fc from 'fast-check'
import t from 'tap'
import { currentTenant } from '../../../src/kernel/work/current-tenant.ts'
import { FairReads } from '../../../src/kernel/work/fair-reads.ts'
import { processTurns, Turns } from '../../../src/kernel/work/turns.ts'
import { systemPorts } from '../../../src/ports.ts'
import { randomRuns } from '../../random-runs.ts'
import { settle } from '../../virtual-time.ts'

const PLACES = { all: 6, ofTenant: 4 }

/** Reads that end when the test ends them. */
function heldReads() {
  const reads = new FairReads(() => 0, PLACES)
  const running: { readonly tenant: string; readonly end: () => void }[] = []
  const ask = (tenant: string): Promise<string> =>
    reads.run(tenant, async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      running.push({ tenant, end: resolve })
      await promise
      return tenant
    })
  const of = (tenant: string): number => running.filter((each) => each.tenant === tenant).length
  const end = async (at: number): Promise<void> => {
    running.splice(at, 1)[0]!.end()
    await settle()
  }
  return { reads, running, ask, of, end }
}

t.test('a read of another tenant is sent at once, however many reads a tenant has waiting', async (t) => {
  const { reads, running, ask, of, end } = heldReads()
  const greedy = Array.from({ length: 100 }, () => ask('greedy'))
  await settle()
  t.equal(of('greedy'), PLACES.ofTenant)
  t.equal(reads.waiting, 96)
  const other = ask('other')
  await settle()
  t.equal(of('other'), 1)
  while (running.length > 0) await end(0)
  t.equal(await other, 'other')
  t.equal(new Set(await Promise.all(greedy)).size, 1)
})

t.test('when all places are taken, the tenant with the fewest reads in flight is next', async (t) => {
  const { ask, of, end } = heldReads()
  const asked = ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c'].map((tenant) => ask(tenant))
  await settle()
  t.strictSame([of('a'), of('b'), of('c')], [4, 2, 0])
  await end(0)
  t.strictSame([of('a'), of('b'), of('c')], [3, 2, 1])
  for (let left = 8; left > 0; left--) await end(0)
  await Promise.all(asked)
})

t.test(
  'whatever reads begin and end, no limit is passed, and none waits beside a place of its tenant',
  async () => {
    const step = fc.oneof(
      fc.record({ ask: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ end: fc.nat({ max: 5 }) })
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { reads, running, ask, of, end } = heldReads()
        const asked: Promise<string>[] = []
        const waiting = new Map([...'abc'].map((tenant) => [tenant, 0]))
        for (const each of steps) {
          if ('ask' in each) {
            asked.push(ask(each.ask))
            waiting.set(each.ask, waiting.get(each.ask)! + 1)
            await settle()
          } else if (running.length > 0) {
            const at = each.end % running.length
            waiting.set(running[at]!.tenant, waiting.get(running[at]!.tenant)! - 1)
            await end(at)
          }
          if (running.length > PLACES.all) throw new Error(`${running.length} reads are in flight`)
          for (const tenant of 'abc') {
            if (of(tenant) > PLACES.ofTenant) throw new Error(`${tenant} has ${of(tenant)} reads in flight`)
            const waits = waiting.get(tenant)! - of(tenant)
            if (waits > 0 && of(tenant) < PLACES.ofTenant && running.length < PLACES.all)
              throw new Error(`${tenant} waits beside a free place`)
          }
        }
        while (running.length > 0) await end(0)
        await Promise.all(asked)
        if (reads.waiting !== 0) throw new Error('a read waits for ever')
      }),
      randomRuns(200)
    )
  }
)

t.test('a read that fails gives its place back', async (t) => {
  const reads = new FairReads(() => 0, { all: 1, ofTenant: 1 })
  await t.rejects(reads.run('a', () => Promise.reject(new Error('the store does not answer'))))
  t.equal(await reads.run('b', async () => 'read'), 'read')
})

t.test('a read that has waited longer than its answer is not sent, and the next one is', async (t) => {
  let nowMs = 0
  const reads = new FairReads(() => nowMs, { all: 1, ofTenant: 1 })
  const slow = Promise.withResolvers<string>()
  const first = reads.run('a', () => slow.promise)
  const late = reads.run('a', async () => 'sent')
  nowMs = 4_000
  const soon = reads.run('a', async () => 'read')
  slow.resolve('slow')
  t.equal(await first, 'slow')
  await t.rejects(late, { message: /kept the store busy/ })
  t.equal(await soon, 'read')
})

t.test('the reads of work know its tenant, in each of its turns', async (t) => {
  const turns = new Turns(processTurns(systemPorts.clock))
  const tenants = await turns.run('acme', async (turn) => {
    const first = currentTenant()
    await turn.again()
    return [first, currentTenant()]
  })
  t.strictSame(tenants, ['acme', 'acme'])
  t.equal(currentTenant(), null)
})
