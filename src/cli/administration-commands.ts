import type { SettingName } from '../config/config.ts'
import { command, type CommandGroup } from './command.ts'

/**
 * Settings of the commands for tenants and keys. The admin key is read only from the environment, because other users
 * of the machine can see a command line.
 */
const settings = [
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
  'scyllaReplication',
  'redisUrl'
] as const satisfies readonly SettingName[]
const details =
  'Opens the store of the data folder. If a service has it open, the command uses that service with MILLRACE_ADMIN_KEY.'
const everywhere = {
  json: { meaning: 'print one JSON object a line instead of a table' },
  url: { value: 'URL', meaning: 'use this service instead of opening the store' }
} as const

export const TENANTS: CommandGroup = {
  summary: 'Lists and creates tenants.',
  verbs: {
    list: command({
      summary: 'Lists the tenants.',
      details,
      options: everywhere,
      settings,
      examples: ['millrace tenants list'],
      run: async (invocation) => (await import('./tenants.ts')).listTenants(invocation)
    }),
    create: command({
      summary: 'Creates a tenant.',
      details,
      operands: 'NAME',
      options: everywhere,
      settings,
      examples: ['millrace tenants create acme'],
      run: async (invocation) => (await import('./tenants.ts')).createTenant(invocation)
    })
  }
}

export const KEYS: CommandGroup = {
  summary: 'Lists, creates, rotates and revokes API keys.',
  verbs: {
    list: command({
      summary: 'Lists the API keys.',
      details,
      options: { tenant: { value: 'TENANT', meaning: 'only keys of this tenant' }, ...everywhere },
      settings,
      examples: ['millrace keys list --tenant acme'],
      run: async (invocation) => (await import('./keys.ts')).listKeys(invocation)
    }),
    create: command({
      summary: 'Creates an API key and shows it once.',
      details,
      options: {
        tenant: { value: 'TENANT', meaning: 'owner of the key; required' },
        name: { value: 'NAME', meaning: 'a name for people' },
        scopes: { value: 'A,B', meaning: 'what the key may do; default: all but admin' },
        rate: { value: 'CALLS', meaning: 'calls a minute; default: MILLRACE_RATE_LIMIT_PER_MINUTE' },
        work: { value: 'UNITS', meaning: 'units of work a minute; default: MILLRACE_WORK_PER_MINUTE' },
        expires: {
          value: 'TIME',
          meaning: 'when the key expires, as in 2027-01-01T00:00:00Z; default: never'
        },
        'allow-ip': {
          value: 'RANGE',
          multiple: true,
          meaning: 'addresses that may use the key; default: all'
        },
        origin: {
          value: 'ORIGIN',
          multiple: true,
          meaning:
            'origins of web pages and extensions that may use the key, as https://*.example.org or rpc:*; default: none'
        },
        ...everywhere
      },
      settings,
      examples: ['millrace keys create --tenant acme --scopes data:read,stream --rate 600'],
      run: async (invocation) => (await import('./keys.ts')).createKey(invocation)
    }),
    rotate: command({
      summary: 'Creates a successor of an API key and shows it once.',
      details,
      operands: 'ID',
      options: {
        grace: { value: 'SECONDS', meaning: 'seconds for which the old key still works; default: 0' },
        ...everywhere
      },
      settings,
      examples: ['millrace keys rotate ID --grace 86400'],
      run: async (invocation) => (await import('./keys.ts')).rotateKey(invocation)
    }),
    revoke: command({
      summary: 'Revokes an API key at once.',
      details,
      operands: 'ID',
      options: everywhere,
      settings,
      examples: ['millrace keys revoke ID'],
      run: async (invocation) => (await import('./keys.ts')).revokeKey(invocation)
    })
  }
}
