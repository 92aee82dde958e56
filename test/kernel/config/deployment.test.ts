import t from 'tap'
import { maskedConfig, readConfig } from '../../../src/configuration.ts'
import { deploymentRefusal, configWarnings } from '../../../src/kernel/config/deployment.ts'

type Environment = Readonly<Record<string, string>>

const KEY = 'ab'.repeat(32)
const SCYLLA = { MILLRACE_STORAGE: 'scylla', MILLRACE_WEBHOOK_SECRET_KEY: KEY }
const REDIS = { MILLRACE_REDIS_URL: 'redis://127.0.0.1' }
const RPC = { MILLRACE_SOURCE: 'rpc', MILLRACE_RPC_URL: 'http://127.0.0.1:1' }

function configOf(environment: Environment) {
  const reading = readConfig([], environment)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading.config
}

t.test('settings that cannot work together are refused with a line that says what to set', async (t) => {
  const refused: readonly (readonly [Environment, RegExp])[] = [
    [{ MILLRACE_ROLE: 'gateway' }, /MILLRACE_ROLE=gateway .* set MILLRACE_STORAGE=scylla/],
    [{ MILLRACE_ROLE: 'ingest,delivery' }, /MILLRACE_ROLE=ingest,delivery .* set MILLRACE_STORAGE=scylla/],
    [{ MILLRACE_ROLE: 'delivery' }, /MILLRACE_ROLE=delivery .* set MILLRACE_STORAGE=scylla/],
    [
      { MILLRACE_RPC_URL: 'http://a:1', MILLRACE_RPC_NODE_RPS: '100,,50' },
      /MILLRACE_RPC_NODE_RPS has 3 places, but .* have 1 nodes/
    ],
    [{ MILLRACE_RPC_WS_COMPAT_PORT: '8900' }, /MILLRACE_RPC_WS_COMPAT_PORT=8900 is MILLRACE_PORT/],
    [{ MILLRACE_INDEX_HOLDER: 'false' }, /^MILLRACE_INDEX_HOLDER=false needs MILLRACE_STORAGE=scylla/],
    [{ ...SCYLLA, MILLRACE_SCYLLA_USERNAME: 'me' }, /MILLRACE_SCYLLA_PASSWORD is not/],
    [{ ...SCYLLA, MILLRACE_SCYLLA_PASSWORD: 'secret' }, /MILLRACE_SCYLLA_USERNAME is not/],
    [{ MILLRACE_PROCESSES: '4' }, /^MILLRACE_PROCESSES=4 needs MILLRACE_STORAGE=scylla/],
    [{ ...SCYLLA, ...REDIS, MILLRACE_PROCESSES: '4' }, /^MILLRACE_PROCESSES=4 needs a node.*MILLRACE_SOURCE/],
    [
      { ...SCYLLA, ...RPC, MILLRACE_PROCESSES: '2', MILLRACE_ROLE: 'delivery' },
      /MILLRACE_ROLE=delivery needs MILLRACE_REDIS_URL/
    ],
    [
      { ...SCYLLA, MILLRACE_SCYLLA_TLS_CA: 'ca' },
      /MILLRACE_SCYLLA_TLS_CA is set, .* set MILLRACE_SCYLLA_TLS=true/
    ],
    [{ ...SCYLLA, ...REDIS, MILLRACE_REDIS_TLS_SERVER_NAME: 'x' }, /begin MILLRACE_REDIS_URL with rediss/],
    [
      { ...SCYLLA, MILLRACE_SCYLLA_TLS: 'true', MILLRACE_SCYLLA_TLS_KEY: 'key' },
      /MILLRACE_SCYLLA_TLS_CERTIFICATE and MILLRACE_SCYLLA_TLS_KEY belong together/
    ]
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
    [REDIS, [/MILLRACE_REDIS_URL has no effect with the embedded store/]],
    [{ MILLRACE_RETENTION_DAYS: '7' }, []],
    [{ ...SCYLLA, MILLRACE_RETENTION_DAYS: '7' }, []],
    [SCYLLA, []],
    [{ ...SCYLLA, ...REDIS }, []],
    [{ ...SCYLLA, ...REDIS, MILLRACE_ROLE: 'gateway', MILLRACE_INDEX_HOLDER: 'false' }, []],
    [{ ...SCYLLA, ...REDIS, MILLRACE_ROLE: 'gateway' }, []],
    [
      { ...SCYLLA, MILLRACE_ROLE: 'gateway' },
      [/without MILLRACE_REDIS_URL each process counts calls separately/]
    ],
    [{ ...SCYLLA, ...REDIS, MILLRACE_ROLE: 'delivery' }, []],
    [
      { ...SCYLLA, MILLRACE_ROLE: 'delivery' },
      [/only one may have the role ingest, and one the role delivery/]
    ],
    [{ ...SCYLLA, ...REDIS, MILLRACE_ROLE: 'gateway,delivery' }, []],
    [{ MILLRACE_ROLE: 'ingest,gateway' }, [/^MILLRACE_ROLE=ingest,gateway does not name delivery/]],
    [{ ...SCYLLA, MILLRACE_SCYLLA_USERNAME: 'me', MILLRACE_SCYLLA_PASSWORD: 'secret' }, []],
    [{ MILLRACE_ALLOW_PRIVATE_WEBHOOKS: 'true' }, [/^MILLRACE_ALLOW_PRIVATE_WEBHOOKS is on/]],
    [{ MILLRACE_STORAGE: 'scylla' }, [/^MILLRACE_WEBHOOK_SECRET_KEY is not set/]],
    [{ MILLRACE_STORAGE: 'scylla', ...REDIS, MILLRACE_ROLE: 'ingest' }, []],
    [{ ...SCYLLA, ...REDIS, ...RPC, MILLRACE_PROCESSES: '6' }, []],
    [
      { ...SCYLLA, ...RPC, MILLRACE_PROCESSES: '2', MILLRACE_ROLE: 'gateway' },
      [/without MILLRACE_REDIS_URL/]
    ],
    [
      {
        ...SCYLLA,
        ...{ MILLRACE_REDIS_URL: 'rediss+sentinel://:a%40b@h1,h2:26380/main/1', MILLRACE_REDIS_TLS_CA: 'ca' },
        ...{ MILLRACE_SCYLLA_TLS: 'true', MILLRACE_SCYLLA_TLS_SERVER_NAME: 'cql' }
      },
      []
    ]
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
    [{ MILLRACE_ROLE: 'ingress' }, /^MILLRACE_ROLE="ingress" is not one of ingest, gateway, delivery$/],
    [{ MILLRACE_SCYLLA_CONTACT_POINTS: ',' }, /^MILLRACE_SCYLLA_CONTACT_POINTS="," is empty$/],
    [{ MILLRACE_SCYLLA_CONTACT_POINTS: 'a b' }, /^MILLRACE_SCYLLA_CONTACT_POINTS="a b" is not a host$/],
    [{ MILLRACE_SCYLLA_KEYSPACE: 'a-b' }, /^MILLRACE_SCYLLA_KEYSPACE="a-b" is not a keyspace name/],
    [
      { MILLRACE_REDIS_URL: 'http://:secret@x' },
      /^MILLRACE_REDIS_URL is not a URL with redis: or rediss:, or either with \+sentinel or \+cluster$/
    ],
    ...[
      'secret',
      'ab'.repeat(31),
      'ab'.repeat(33),
      `${'ab'.repeat(31)}xx`,
      'A'.repeat(42),
      'A'.repeat(44)
    ].map(
      (key) =>
        [
          { MILLRACE_WEBHOOK_SECRET_KEY: key },
          /^MILLRACE_WEBHOOK_SECRET_KEY is not base64 or hexadecimal of 32 bytes$/
        ] as const
    )
  ]
  for (const [environment, line] of bad) {
    const reading = readConfig([], environment)
    t.match(reading, { kind: 'invalid', problems: [line] })
    if (reading.kind === 'invalid') t.equal(reading.problems.length, 1)
  }
})

t.test(
  'the key of webhook secrets is read from base64 and hexadecimal, and is shown by neither',
  async (t) => {
    for (const text of [KEY, KEY.toUpperCase(), Buffer.from(KEY, 'hex').toString('base64')]) {
      const config = configOf({ MILLRACE_WEBHOOK_SECRET_KEY: text })
      t.same(Buffer.from(config.webhookSecretKey!), Buffer.from(KEY, 'hex'))
      t.equal(maskedConfig(config).MILLRACE_WEBHOOK_SECRET_KEY, '********')
    }
    t.equal(configOf({}).webhookSecretKey, null)
  }
)
