import fc from 'fast-check'
import t from 'tap'
import { placeRefusal, releasedFor, shareOf, type TenantPlaces } from '../../src/transactions/places.ts'
import { randomRuns } from '../random-runs.ts'

interface Item {
  readonly name: string
  readonly isIdle: boolean
}

const isIdle = (item: Item): boolean => item.isIdle
const placesOf = (tenant: string, idle: readonly boolean[]): TenantPlaces<Item> => ({
  tenant,
  items: idle.map((each, nth) => ({ name: `${tenant}${nth}`, isIdle: each }))
})

t.test(
  'a tenant is refused at its own limit, in a full process, and beyond its share of a crowded one',
  (t) => {
    t.equal(placeRefusal({ process: 0, tenant: 0, share: 5_000 }), null)
    t.equal(
      placeRefusal({ process: 7_999, tenant: 1_999, share: 1_000 }),
      null,
      'shares count only in a crowd'
    )
    t.match(placeRefusal({ process: 8_000, tenant: 1_000, share: 1_000 }), /has its share of 1000/)
    t.equal(placeRefusal({ process: 9_999, tenant: 999, share: 1_000 }), null)
    t.match(placeRefusal({ process: 2_000, tenant: 2_000, share: 5_000 }), /this tenant has 2000/)
    t.match(placeRefusal({ process: 10_000, tenant: 0, share: 1_000 }), /this process tracks 10000/)
    t.same([shareOf(1), shareOf(5), shareOf(99)], [5_000, 1_666, 100])
    t.end()
  }
)

t.test('tenants that take all they get leave room for the next ones', (t) => {
  const held = new Map<string, number>()
  let all = 0
  for (let nth = 0; nth < 6; nth++) {
    const tenant = `t${nth}`
    held.set(tenant, 0)
    for (;;) {
      const places = { process: all, tenant: held.get(tenant)!, share: shareOf(held.size) }
      if (placeRefusal(places) !== null) break
      held.set(tenant, held.get(tenant)! + 1)
      all++
    }
    t.ok(held.get(tenant)! > 100, `${tenant} has ${held.get(tenant)}`)
  }
  t.ok(all <= 10_000)
  t.end()
})

t.test('the place is that of the oldest idle one of the tenant with the most', (t) => {
  const all = [
    placesOf('a', [false, true, true]),
    placesOf('b', [true]),
    placesOf('c', [false, false, false, false])
  ]
  t.equal(releasedFor('b', all, isIdle)?.name, 'a1')
  t.equal(releasedFor('d', all, isIdle)?.name, 'a1')
  t.equal(releasedFor('c', all, isIdle), null, 'a tenant with more takes none of one with fewer')
  const full = placesOf(
    'f',
    Array.from({ length: 2_000 }, (_, nth) => nth === 7)
  )
  t.equal(releasedFor('f', [...all, full], isIdle)?.name, 'f7')
  t.end()
})

t.test('no place is taken from a tenant with fewer places, nor from one that is in use', (t) => {
  const tenants = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 6
  })
  fc.assert(
    fc.property(tenants, fc.nat(6), (idle, at) => {
      const all = idle.map((each, nth) => placesOf(String(nth), each))
      const tenant = String(at)
      const released = releasedFor(tenant, all, isIdle)
      const own = all.find((each) => each.tenant === tenant)?.items.length ?? 0
      const donors = all.filter(({ items }) => items.length >= own && items.some(isIdle))
      if (released === null) return donors.length === 0
      const donor = all.find(({ items }) => items.includes(released))!
      return released.isIdle && donors.every(({ items }) => items.length <= donor.items.length)
    }),
    randomRuns(300)
  )
  t.end()
})
