import { administer, BadUsage, type Flags } from './administer.ts'

const COLUMNS = [
  'id',
  'tenant',
  'name',
  'prefix',
  'status',
  'scopes',
  'rate_limit_per_minute',
  'expires_at'
] as const

/** Lists, makes, rotates and revokes API keys. */
export const keys = administer('keys', COLUMNS, {
  list: {
    usage: 'list [--tenant TENANT] [--json]',
    flags: { tenant: { type: 'string' } },
    operands: 0,
    order: ({ tenant }) => ({
      method: 'GET',
      path: `/v1/admin/keys?${new URLSearchParams({ limit: '1000', ...textOf({ tenant }) }).toString()}`
    })
  },
  create: {
    usage:
      'create --tenant TENANT [--name NAME] [--scopes A,B] [--rate CALLS_A_MINUTE] [--expires TIME] [--allow-ip RANGE]… [--origin ORIGIN]… [--json]',
    flags: {
      tenant: { type: 'string' },
      name: { type: 'string' },
      scopes: { type: 'string' },
      rate: { type: 'string' },
      expires: { type: 'string' },
      'allow-ip': { type: 'string', multiple: true },
      origin: { type: 'string', multiple: true }
    },
    operands: 0,
    order: ({ tenant, name, scopes, rate, expires, 'allow-ip': allowedIps, origin }) => {
      if (tenant === undefined) throw new BadUsage('a key belongs to a tenant: --tenant')
      const body = {
        ...textOf({ tenant, name, expires_at: expires }),
        ...(typeof scopes === 'string' ? { scopes: scopes.split(',') } : {}),
        ...(rate === undefined ? {} : { rate_limit_per_minute: wholeNumber('--rate', rate) }),
        ...(allowedIps === undefined ? {} : { allowed_ips: allowedIps }),
        ...(origin === undefined ? {} : { cors_origins: origin })
      }
      return { method: 'POST', path: '/v1/admin/keys', body }
    }
  },
  rotate: {
    usage: 'rotate ID [--grace SECONDS] [--json]',
    flags: { grace: { type: 'string' } },
    operands: 1,
    order: ({ grace = '0' }, [id]) => ({
      method: 'POST',
      path: `${pathOf(id)}/rotate`,
      body: { grace_seconds: wholeNumber('--grace', grace) }
    })
  },
  revoke: {
    usage: 'revoke ID [--json]',
    flags: {},
    operands: 1,
    order: (_flags, [id]) => ({ method: 'DELETE', path: pathOf(id) })
  }
})

/** Those flags that were given. */
function textOf(flags: Flags): Record<string, string> {
  return Object.fromEntries(
    Object.entries(flags).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  )
}

function wholeNumber(flag: string, text: Flags[string]): number {
  if (typeof text !== 'string' || !/^\d{1,15}$/.test(text)) throw new BadUsage(`${flag} is no whole number`)
  return Number(text)
}

function pathOf(id = ''): string {
  return `/v1/admin/keys/${encodeURIComponent(id)}`
}
