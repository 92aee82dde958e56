import { requestsOf, type CommandGroup, type Commands } from '../kernel/cli/command.ts'
import { REDIS_PLACE, SCYLLA_TLS } from '../store/commands.ts'

const request = requestsOf({
  answeredBy: 'store',
  details:
    'Opens the store of the data folder. If a service has it open, the command uses that service with MILLRACE_ADMIN_KEY.',
  options: {
    json: { meaning: 'print one JSON object a line instead of a table' },
    url: { value: 'URL', meaning: 'use this service instead of opening the store' }
  },
  // The admin key is read only from the environment, because other users of the machine can see a command line.
  settings: [
    'dataDir',
    'host',
    'port',
    'storage',
    'scyllaContactPoints',
    'scyllaPort',
    'scyllaDatacenter',
    'scyllaKeyspace',
    'scyllaUsername',
    'scyllaPassword',
    ...SCYLLA_TLS,
    'scyllaReplication',
    'scyllaTablets',
    ...REDIS_PLACE
  ]
})
/** Maximum of one page of these lists. */
const LARGEST_PAGE = { limit: '1000' } as const
const TENANT_COLUMNS = 'name created_at keys'
const KEY_COLUMNS =
  'id tenant name prefix status scopes rate_limit_per_minute work_limit_per_minute export_rows_per_day expires_at'

const TENANTS: CommandGroup = {
  position: 120,
  summary: 'Lists and creates tenants.',
  verbs: {
    list: request({
      summary: 'Lists the tenants.',
      examples: ['millrace tenants list'],
      endpoint: async () => (await import('./routes/admin-tenants.ts')).listTenants,
      fixed: LARGEST_PAGE,
      columns: TENANT_COLUMNS
    }),
    create: request({
      summary: 'Creates a tenant.',
      examples: ['millrace tenants create acme'],
      endpoint: async () => (await import('./routes/admin-tenants.ts')).createTenant,
      operands: { NAME: 'name' },
      columns: TENANT_COLUMNS
    })
  }
}

const KEYS: CommandGroup = {
  position: 130,
  summary: 'Lists, creates, rotates and revokes API keys.',
  verbs: {
    list: request({
      summary: 'Lists the API keys.',
      examples: ['millrace keys list --tenant acme'],
      endpoint: async () => (await import('./routes/admin-keys.ts')).listKeys,
      fixed: LARGEST_PAGE,
      flags: { tenant: { value: 'TENANT', meaning: 'only keys of this tenant' } },
      columns: KEY_COLUMNS
    }),
    create: request({
      summary: 'Creates an API key and shows it once.',
      examples: ['millrace keys create --tenant acme --scopes data:read,stream --rate 600'],
      endpoint: async () => (await import('./routes/admin-keys.ts')).createKey,
      flags: {
        tenant: {
          value: 'TENANT',
          meaning: 'owner of the key; required',
          missing: 'a key needs an owner: set it with --tenant'
        },
        name: { value: 'NAME', meaning: 'a name for people' },
        scopes: { value: 'A,B', meaning: 'what the key may do; default: all but admin' },
        rate: {
          value: 'CALLS',
          parameter: 'rate_limit_per_minute',
          meaning: 'calls a minute; default: MILLRACE_RATE_LIMIT_PER_MINUTE'
        },
        work: {
          value: 'UNITS',
          parameter: 'work_limit_per_minute',
          meaning: 'units of work a minute; default: MILLRACE_WORK_PER_MINUTE'
        },
        'export-rows': {
          value: 'ROWS',
          parameter: 'export_rows_per_day',
          meaning: 'rows that exports may send in a day of UTC; 0: no exports; default: 1000000'
        },
        expires: {
          value: 'TIME',
          parameter: 'expires_at',
          meaning: 'when the key expires, as in 2027-01-01T00:00:00Z; default: never'
        },
        'allow-ip': {
          value: 'RANGE',
          multiple: true,
          parameter: 'allowed_ips',
          meaning: 'addresses that may use the key; default: all'
        },
        origin: {
          value: 'ORIGIN',
          multiple: true,
          parameter: 'cors_origins',
          meaning:
            'origins of web pages and extensions that may use the key, as https://*.example.org or rpc:*; default: none'
        }
      },
      columns: KEY_COLUMNS
    }),
    rotate: request({
      summary: 'Creates a successor of an API key and shows it once.',
      examples: ['millrace keys rotate ID --grace 86400'],
      endpoint: async () => (await import('./routes/admin-keys.ts')).rotateKey,
      operands: { ID: 'id' },
      flags: {
        grace: {
          value: 'SECONDS',
          parameter: 'grace_seconds',
          fallback: '0',
          meaning: 'seconds for which the old key still works; default: 0'
        }
      },
      columns: KEY_COLUMNS
    }),
    revoke: request({
      summary: 'Revokes an API key at once.',
      examples: ['millrace keys revoke ID'],
      endpoint: async () => (await import('./routes/admin-keys.ts')).revokeKey,
      operands: { ID: 'id' },
      columns: KEY_COLUMNS
    })
  }
}

export const ACCESS_COMMANDS: Commands = { tenants: TENANTS, keys: KEYS }
