import fc from 'fast-check'
import t from 'tap'
import { announcementText, type Announcement } from '../../src/fleet/announcement.ts'
import { Fleet } from '../../src/fleet/fleet.ts'
import { ROLES, type Role } from '../../src/fleet/work.ts'
import { ERRORS } from '../../src/kernel/errors.ts'
import { PRESENCE_MS } from '../../storage/cluster/coordination.ts'
import { randomRuns } from '../random-runs.ts'
import { aloneFleet, announced } from './sample-fleet.ts'

const SENDING = { name: 'transactions', role: 'delivery' } as const

interface Seen {
  readonly id: string
  readonly silentMs?: number
  readonly is?: Partial<Announcement>
}

/** A gateway without a delivery role, and its clock. */
function gateway(is: Partial<Announcement> = {}) {
  const clock = { ms: 1_000_000, now: () => clock.ms }
  const own = announced({ roles: ['gateway'], works: [], ...is })
  const fleet = new Fleet({ id: 'own', clock, own: () => own, isAlone: false })
  const hear = (coversMs: number, ...seen: readonly Seen[]): void =>
    fleet.hear(
      {
        coversMs,
        processes: seen.map(({ id, silentMs = 0, is = {} }) => ({
          ...{ id, silentMs },
          text: announcementText(announced(is))
        }))
      },
      'redis'
    )
  return { clock, fleet, hear }
}

t.test(
  'a role is missing once no process has had it for five seconds, and not a moment before',
  async (t) => {
    const { clock, fleet, hear } = gateway()
    t.same(fleet.missingRoles, [], 'nothing is read yet')
    t.equal(fleet.source, null)
    hear(PRESENCE_MS - 1)
    t.same(fleet.missingRoles, [], 'an announcement of that time may have been before the first read')
    t.equal(fleet.absence(SENDING), null)
    hear(PRESENCE_MS)
    t.same(fleet.missingRoles, ['ingest', 'delivery'])
    t.match(fleet.absence(SENDING), { kind: ERRORS.ROLE_MISSING, members: { role: 'delivery' } })
    t.match(fleet.absence(SENDING)?.detail, /the role delivery for 5 s/)
    hear(PRESENCE_MS + 1, { id: 'b', is: { roles: ['delivery'], works: ['transactions'] } })
    t.same(fleet.missingRoles, ['ingest'])
    t.equal(fleet.absence(SENDING), null)
    clock.ms += PRESENCE_MS
    hear(2 * PRESENCE_MS, { id: 'b', silentMs: PRESENCE_MS, is: { roles: ['delivery'] } })
    t.same(fleet.missingRoles, ['ingest'], 'five seconds of silence are not more than five')
    clock.ms += 1
    t.same(fleet.missingRoles, ['ingest', 'delivery'])
  }
)

t.test('a process that says farewell is gone at once', async (t) => {
  const { fleet, hear } = gateway()
  hear(PRESENCE_MS, { id: 'b', is: { roles: ['delivery'], works: ['transactions'] } })
  t.equal(fleet.count('delivery'), 1)
  hear(PRESENCE_MS)
  t.equal(fleet.count('delivery'), 0)
  t.ok(fleet.absence(SENDING))
})

t.test('while announcements cannot be read nothing is missing, whatever was heard before', async (t) => {
  const { clock, fleet, hear } = gateway()
  hear(PRESENCE_MS)
  t.ok(fleet.absence(SENDING))
  clock.ms += PRESENCE_MS + 1
  t.equal(fleet.absence(SENDING), null)
  t.same(fleet.missingRoles, [])
  hear(0)
  t.equal(fleet.absence(SENDING), null, 'another server was asked, or it has lost its data')
})

t.test(
  'a role without the work that is needed, as a delivery process without a node, is refused',
  async (t) => {
    const { fleet, hear } = gateway()
    hear(PRESENCE_MS, { id: 'b', is: { roles: ['delivery'], works: ['webhooks'] } })
    t.same(fleet.missingRoles, ['ingest'])
    t.match(fleet.absence(SENDING)?.detail, /no process with the role delivery does this work/)
    t.equal(fleet.absence({ name: 'webhooks', role: 'delivery' }), null)
  }
)

t.test('a process with all roles never lacks one, from its first moment and whatever it hears', async () => {
  const arbitraryText = fc.oneof(
    fc.string(),
    fc.json(),
    fc.subarray([...ROLES]).map((roles) => announcementText(announced({ roles, works: [] })))
  )
  const step = fc.record({
    passMs: fc.nat(20_000),
    coversMs: fc.nat(20_000),
    texts: fc.array(arbitraryText, { maxLength: 4 })
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 10 }), fc.boolean(), (steps, isAlone) => {
      const clock = { ms: 5, now: () => clock.ms }
      const own = announced()
      const fleet = new Fleet({ id: 'own', clock, own: () => own, isAlone })
      const works = own.works.map((name) => ({ name, role: 'delivery' as const }))
      const isWhole = (): boolean =>
        fleet.missingRoles.length === 0 && works.every((work) => fleet.absence(work) === null)
      if (!isWhole()) return false
      return steps.every(({ passMs, coversMs, texts }) => {
        clock.ms += passMs
        const processes = texts.map((text, at) => ({ id: String(at), text, silentMs: 0 }))
        fleet.hear({ coversMs, processes }, 'redis')
        return isWhole()
      })
    }),
    randomRuns(200)
  )
})

t.test('a role is missing exactly if no announcement of the last five seconds has it', async () => {
  const seen = fc.record({ roles: fc.subarray([...ROLES]), silentMs: fc.nat(2 * PRESENCE_MS) })
  fc.assert(
    fc.property(fc.array(seen, { maxLength: 6 }), fc.nat(3 * PRESENCE_MS), (all, coversMs) => {
      const { fleet, hear } = gateway()
      hear(coversMs, ...all.map(({ roles, silentMs }, at) => ({ id: String(at), silentMs, is: { roles } })))
      const has = (role: Role): boolean =>
        role === 'gateway' ||
        all.some(({ roles, silentMs }) => silentMs <= PRESENCE_MS && roles.includes(role))
      const expected = coversMs < PRESENCE_MS ? [] : ROLES.filter((role) => !has(role))
      return JSON.stringify(fleet.missingRoles) === JSON.stringify(expected)
    }),
    randomRuns(300)
  )
})

t.test('the only process of an embedded store knows at once what nobody does', async (t) => {
  const fleet = aloneFleet({ now: () => 1 }, { roles: ['ingest', 'gateway'], works: [] })
  t.same(fleet.missingRoles, ['delivery'])
  t.match(fleet.absence(SENDING)?.detail, /no other can open the embedded store/)
})

t.test('processes are listed by start, this one first, with the newest slot of all', async (t) => {
  const { fleet, hear } = gateway({ slot: 7, startedAtMs: 50 })
  t.equal(fleet.newestSlot, 7)
  hear(
    0,
    { id: 'c', is: { startedAtMs: 30, slot: 9 } },
    { id: 'b', is: { startedAtMs: 20, slot: null } },
    { id: 'own', is: { startedAtMs: 1 } }
  )
  t.same(
    fleet.processes.map(({ id }) => id),
    ['own', 'b', 'c'],
    'it hears itself too'
  )
  t.equal(fleet.newestSlot, 9)
})

t.test(
  'a setting differs from its peers by the number of processes, then by ingest, then by age',
  async (t) => {
    const of = (venues: string, is: Partial<Announcement> = {}): Partial<Announcement> => ({
      settings: { MILLRACE_VENUES: venues },
      roles: ['gateway'],
      ...is
    })
    const differs = (own: Partial<Announcement>, ...others: readonly Partial<Announcement>[]) => {
      const { fleet, hear } = gateway(own)
      hear(PRESENCE_MS, ...others.map((is, at) => ({ id: String(at), is })))
      return fleet.differing
    }
    t.same(differs(of('a')), [], 'a process alone')
    t.same(differs(of('a'), of('a')), [])
    t.same(differs(of('b'), of('a'), of('a')), ['MILLRACE_VENUES'])
    t.same(differs(of('a'), of('b'), of('a')), [], 'the other one differs')
    t.same(differs(of('b', { startedAtMs: 1 }), of('a', { startedAtMs: 2, roles: ['ingest'] })), [
      'MILLRACE_VENUES'
    ])
    t.same(differs(of('b', { startedAtMs: 2 }), of('a', { startedAtMs: 1 })), ['MILLRACE_VENUES'])
    t.same(differs(of('b', { startedAtMs: 1 }), of('a', { startedAtMs: 2 })), [])
    t.same(
      differs(of('a'), { settings: {} }, { settings: {} }),
      [],
      'those that do not state it do not count'
    )
  }
)

t.test(
  'a process without a node differs from one that has a node, and never the other way round',
  async (t) => {
    const of = (nodes: string): Partial<Announcement> => ({ settings: { MILLRACE_RPC_URL: nodes } })
    const differs = (own: string, ...others: readonly string[]) => {
      const { fleet, hear } = gateway(of(own))
      hear(PRESENCE_MS, ...others.map((nodes, at) => ({ id: String(at), is: of(nodes) })))
      return fleet.differing
    }
    t.same(differs('none', 'set'), ['MILLRACE_RPC_URL'])
    t.same(differs('set', 'none', 'none'), [])
    t.same(differs('none', 'none'), [])
  }
)

t.test('the kind of source is named only if retention and horizon agree', async (t) => {
  const of = (days: string, source: string): Partial<Announcement> => ({
    settings: { MILLRACE_RETENTION_DAYS: days, MILLRACE_SOURCE: source }
  })
  const differs = (own: Partial<Announcement>, other: Partial<Announcement>) => {
    const { fleet, hear } = gateway({ ...own, startedAtMs: 9 })
    hear(PRESENCE_MS, { id: 'b', is: other })
    return fleet.differing
  }
  t.same(differs(of('30', '30/1'), of('90', '90/1')), ['MILLRACE_RETENTION_DAYS'])
  t.same(differs(of('default', '2/1'), of('default', '90/1')), ['MILLRACE_SOURCE'])
})
