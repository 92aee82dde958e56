import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { deploymentRefusal, configWarnings } from '../../src/config/deployment.ts'

type Environment = Readonly<Record<string, string>>

const SCYLLA = { MILLRACE_STORAGE: 'scylla' }
const REDIS = { MILLRACE_REDIS_URL: 'redis://127.0.0.1' }

function configOf(environment: Environment) {
  const reading = readConfig([], environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading.config
}

t.test('settings that cannot work together are refused with a line that says what to set', async (t) => {
  const refused: readonly (readonly [Environment, RegExp])[] = [
    [{ MILLRACE_ROLE: 'gateway' }, /MILLRACE_ROLE=gateway .* set MILLRACE_STORAGE=scylla/],
    [{ MILLRACE_ROLE: 'ingest,delivery' }, /MILLRACE_ROLE=ingest,delivery .* set MILLRACE_STORAGE=scylla/],
    [{ MILLRACE_ROLE: 'delivery' }, /MILLRACE_ROLE=delivery has nothing to do/],
    [{ ...SCYLLA, MILLRACE_ROLE: 'delivery' }, /MILLRACE_ROLE=delivery has nothing to do/],
    [{ ...SCYLLA, MILLRACE_SCYLLA_USERNAME: 'me' }, /MILLRACE_SCYLLA_PASSWORD is not/],
    [{ ...SCYLLA, MILLRACE_SCYLLA_PASSWORD: 'secret' }, /MILLRACE_SCYLLA_USERNAME is not/]
  ]
  for (const [environment, line] of refused) {
    const refusal = deploymentRefusal(configOf(environment))
    t.match(refusal, line)
    t.notMatch(refusal, /secret|\n/)
  }
})

t.test('settings that work together are accepted, and their limits are logged', async (t) => {
  const good: readonly (readonly [Environment, readonly RegExp[]])[] = [
    [{}, []],
    [{ MILLRACE_ROLE: 'ingest,gateway' }, []],
    [REDIS, [/MILLRACE_REDIS_URL has no effect with the embedded store/]],
    [{ MILLRACE_RETENTION_DAYS: '7' }, []],
    [{ ...SCYLLA, MILLRACE_RETENTION_DAYS: '7' }, []],
    [SCYLLA, []],
    [{ ...SCYLLA, ...REDIS }, []],
    [{ ...SCYLLA, ...REDIS, MILLRACE_ROLE: 'gateway' }, []],
    [
      { ...SCYLLA, MILLRACE_ROLE: 'gateway' },
      [/without MILLRACE_REDIS_URL each process counts calls by itself/]
    ],
    [{ ...SCYLLA, ...REDIS, MILLRACE_ROLE: 'gateway,delivery' }, [/the role delivery has nothing to do/]],
    [{ ...SCYLLA, MILLRACE_SCYLLA_USERNAME: 'me', MILLRACE_SCYLLA_PASSWORD: 'secret' }, []]
  ]
  for (const [environment, lines] of good) {
    const config = configOf(environment)
    t.equal(deploymentRefusal(config), null)
    t.match(configWarnings(config), lines)
    t.equal(configWarnings(config).length, lines.length)
  }
})

t.test('a value of these settings that cannot be meant is named', async (t) => {
  const bad: readonly (readonly [Environment, RegExp])[] = [
    [{ MILLRACE_ROLE: 'ingress' }, /^MILLRACE_ROLE="ingress" is none of ingest, gateway, delivery$/],
    [{ MILLRACE_SCYLLA_CONTACT_POINTS: ',' }, /^MILLRACE_SCYLLA_CONTACT_POINTS="," is empty$/],
    [{ MILLRACE_SCYLLA_CONTACT_POINTS: 'a b' }, /^MILLRACE_SCYLLA_CONTACT_POINTS="a b" is not a host$/],
    [{ MILLRACE_SCYLLA_KEYSPACE: 'a-b' }, /^MILLRACE_SCYLLA_KEYSPACE="a-b" is not a keyspace name/],
    [{ MILLRACE_REDIS_URL: 'http://:secret@x' }, /^MILLRACE_REDIS_URL is not a URL with redis: or rediss:$/]
  ]
  for (const [environment, line] of bad) {
    const reading = readConfig([], environment)
    t.match(reading, { kind: 'invalid', problems: [line] })
    if (reading.kind === 'invalid') t.equal(reading.problems.length, 1)
  }
})
