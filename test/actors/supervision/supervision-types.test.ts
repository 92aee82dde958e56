import t from 'tap'
import type { ProcessScope } from '../../../actors/supervision/process.ts'
import type { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor, type Unit } from '../../../actors/supervision/unit.ts'
import type { Product, Spine } from '../../../src/kernel/compose/product.ts'

type Root = Parameters<typeof supervise>[0]

const storage = child('storage', async ({ ready }: ProcessScope<unknown, { path: string }>) =>
  ready({ path: '' })
)
const otherStorage = child('storage', async ({ ready }: ProcessScope<unknown, number>) => ready(1))
const source = child('source', async ({ ready }: ProcessScope<unknown, Set<number>>) => ready(new Set()))
const ingest = child(
  'ingest',
  async ({ input, ready }: ProcessScope<{ storage: { path: string }; source: Set<number> }, string>) =>
    ready(input.storage.path + input.source.size)
)
const edge = child('edge', async ({ input, ready }: ProcessScope<{ ingest: string }>) => {
  input.ingest.trim()
  ready()
})
const chain = supervisor('chain', 'one_for_all', [source, ingest])
const loose = supervisor('chain', 'rest_for_one', [source, ingest])

t.test('a tree is accepted when each need is met before it, by name and type', async (t) => {
  const fits: Root = supervisor('service', 'rest_for_one', [storage, chain, edge])
  // @ts-expect-error the chain starts before the storage it needs
  const early: Root = supervisor('service', 'rest_for_one', [chain, storage, edge])
  // @ts-expect-error nobody gives what the edge needs
  const missing: Root = supervisor('service', 'rest_for_one', [storage, edge])
  // @ts-expect-error the storage gives something else
  const other: Root = supervisor('service', 'rest_for_one', [otherStorage, chain, edge])
  // @ts-expect-error units side by side give one another nothing
  const beside: Root = supervisor('service', 'one_for_one', [storage, chain])
  // @ts-expect-error the members of the chain may be replaced alone, so it gives nothing
  const alone: Root = supervisor('service', 'rest_for_one', [storage, loose, edge])
  t.equal(new Set([fits, early, missing, other, beside, alone]).size, 6)
})

const needsNothingGiven = child('lost', async ({ ready }: ProcessScope<{ doesNotExist: number }>) => ready())

t.test('a list of units whose length is not known is checked too', async (t) => {
  const units = [storage, edge]
  // @ts-expect-error the units of a list give one another nothing
  const flat: Root = supervisor('service', 'rest_for_one', units)
  const beside: readonly Unit<{ storage: { path: string } }>[] = []
  const fits: Root = supervisor('service', 'rest_for_one', [storage, ...beside])
  const lost: readonly Unit<{ doesNotExist: number }>[] = [needsNothingGiven]
  // @ts-expect-error nobody gives what a unit of the list needs
  const missing: Root = supervisor('service', 'rest_for_one', [storage, ...lost])
  t.equal(new Set([flat, fits, missing]).size, 3)
})

t.test('a product has no unit that needs more than the store and the peers', async (t) => {
  const units = (): readonly Unit<Spine>[] => []
  const fits: Pick<Product, 'units'> = { units }
  // @ts-expect-error no unit gives what it needs
  const missing: Pick<Product, 'units'> = { units: () => [needsNothingGiven] }
  t.equal(new Set([fits, missing]).size, 2)
})
