import fc from 'fast-check'
import t from 'tap'
import { rolesOfProcesses } from '../../../src/kernel/config/process-roles.ts'
import { randomRuns } from '../../random-runs.ts'

const ALL = ['ingest', 'gateway', 'delivery'] as const
type Role = (typeof ALL)[number]

const textOf = (processes: number, redisUrl: string | null, role: readonly Role[] = ALL): string =>
  rolesOfProcesses({ processes, role: [...role], redisUrl })
    .map((roles) => (roles.length === 3 ? 'all' : roles.join('+')))
    .join(' ')

t.test('roles are divided by the number of processes, and by whether there is a Redis', async (t) => {
  const gateways = (count: number): string => Array.from({ length: count }, () => 'gateway').join(' ')
  t.equal(textOf(2, 'redis://h'), 'all all')
  t.equal(textOf(3, 'redis://h'), 'all all all')
  t.equal(textOf(4, 'redis://h'), `ingest+delivery ingest+delivery ${gateways(2)}`)
  t.equal(textOf(5, 'redis://h'), `ingest+delivery ingest+delivery ${gateways(3)}`)
  t.equal(textOf(7, 'redis://h'), `ingest ingest delivery delivery ${gateways(3)}`)
  t.equal(textOf(2, null), 'all gateway')
  t.equal(textOf(3, null), `ingest+delivery ${gateways(2)}`)
  t.equal(textOf(5, null), `ingest delivery ${gateways(3)}`)
  t.equal(textOf(3, null, ['gateway']), gateways(3))
  t.equal(textOf(2, 'redis://h', ['ingest', 'delivery']), 'ingest+delivery ingest+delivery')
})

t.test('every role is there, twice with Redis; without it only gateways are more than one', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 64 }), fc.boolean(), (processes, hasRedis) => {
      const all = rolesOfProcesses({ processes, role: [...ALL], redisUrl: hasRedis ? 'redis://h' : null })
      const count = (role: Role): number => all.filter((roles) => roles.includes(role)).length
      if (all.length !== processes || count('gateway') < 2) return false
      return (['ingest', 'delivery'] as const).every((role) =>
        hasRedis ? count(role) >= 2 : count(role) === 1
      )
    }),
    randomRuns(200)
  )
  t.pass()
})
