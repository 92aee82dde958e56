import t, { type Test } from 'tap'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { LocalTracking, SharedTracking } from '../../src/transactions/local-tracking.ts'
import { SUBMISSION, type Submission } from '../../src/transactions/submission.ts'
import { sampleSubmission } from '../actors/transactions/tracking-world.ts'
import { MemoryDocuments } from '../actors/webhooks/memory-documents.ts'

interface World {
  readonly tracking: SharedTracking
  readonly local: LocalTracking
  readonly hints: { readonly tenant: string; readonly signature: string }[]
  readonly lists: () => number
  readonly store: (tenant: string, signature: string) => Promise<Stored<Submission>>
  nowMs: number
}

function makeWorld(): World {
  const memory = new MemoryDocuments()
  let lists = 0
  const counted: DocumentStore = Object.assign(Object.create(memory) as DocumentStore, {
    list: (range: Parameters<DocumentStore['list']>[0]) => {
      lists++
      return memory.list(range)
    }
  })
  const local = new LocalTracking()
  const hints: World['hints'] = []
  const submissions = {
    available: true,
    publish: (hint: World['hints'][number]) => void hints.push(hint),
    subscribe: () => () => undefined
  }
  const documents = new Documents(memory, SUBMISSION)
  const world: World = {
    tracking: new SharedTracking(local, counted, { submissions }, { now: () => world.nowMs }),
    local,
    hints,
    lists: () => lists,
    store: async (tenant, signature) => {
      const outcome = await documents.insert(sampleSubmission({ tenant, signature }))
      if (!outcome.ok) throw new Error(outcome.reason)
      return outcome.stored
    },
    nowMs: 0
  }
  return world
}

/** The tracking of a process that has the shards of some tenants. */
function serveHere(world: World, t: Test, ...tenants: string[]): Stored<Submission>[] {
  const begun: Stored<Submission>[] = []
  const isHere = (tenant: string): boolean => tenants.includes(tenant)
  world.local.serve({
    begin: (stored) => isHere(stored.value.tenant) && begun.push(stored) > 0,
    beginBundle: () => t.fail('no bundle'),
    progress: () => null,
    places: (tenant) => ({ process: 70, tenant: isHere(tenant) ? begun.length : null, share: 100 })
  })
  return begun
}

t.test('a submission begins here if this process has its shard, else by a hint', async (t) => {
  const world = makeWorld()
  const begun = serveHere(world, t, 'own')
  const [own, other] = [await world.store('own', 'x'), await world.store('other', 'y')]
  world.tracking.begin(own)
  world.tracking.begin(other)
  t.same(begun, [own])
  t.same(world.hints, [{ tenant: 'other', signature: 'y' }])
  world.local.serve(null)
  world.tracking.begin(own)
  t.equal(world.hints.length, 2, 'by a hint too while no tracking runs here')
})

t.test('a tenant of another process is counted in the store, at most once a second', async (t) => {
  const world = makeWorld()
  serveHere(world, t, 'own')
  t.same(await world.tracking.count('own'), { process: 70, tenant: 0, share: 100 })
  t.equal(world.lists(), 0, 'a tenant of this process needs no read')
  for (const signature of ['a', 'b', 'c', 'd', 'e']) await world.store('other', signature)
  await world.store('third', 'z')
  t.same(await world.tracking.count('other'), { process: 70, tenant: 5, share: 100 })
  const before = world.lists()
  world.tracking.begin(await world.store('other', 'f'))
  t.same(
    await world.tracking.count('other'),
    { process: 70, tenant: 6, share: 100 },
    'what began since then counts'
  )
  t.equal(world.lists(), before)
  world.nowMs = 1_000
  await world.store('other', 'g')
  t.same(await world.tracking.count('other'), { process: 70, tenant: 7, share: 100 })
  t.ok(world.lists() > before)
})

t.test('counts of a thousand tenants are kept', async (t) => {
  const world = makeWorld()
  for (let tenant = 0; tenant <= 1_000; tenant++) await world.tracking.count(`tenant ${tenant}`)
  const before = world.lists()
  await world.tracking.count('tenant 1000')
  t.equal(world.lists(), before)
  await world.tracking.count('tenant 0')
  t.ok(world.lists() > before, 'the first made room')
})
