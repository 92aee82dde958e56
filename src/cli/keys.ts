import { administer, type AdministrationOptions } from './administer.ts'
import { BadUsage, type Invocation } from './command.ts'

const COLUMNS = [
  'id',
  'tenant',
  'name',
  'prefix',
  'status',
  'scopes',
  'rate_limit_per_minute',
  'work_limit_per_minute',
  'expires_at'
] as const

interface ListOptions extends AdministrationOptions {
  readonly tenant?: string | undefined
}

/** Lists API keys. */
export function listKeys(invocation: Invocation<ListOptions>): Promise<number> {
  const { tenant } = invocation.options
  const filters = new URLSearchParams({ limit: '1000', ...(tenant !== undefined && { tenant }) })
  return administer(invocation, COLUMNS, { method: 'GET', path: `/v1/admin/keys?${filters.toString()}` })
}

interface KeyOptions extends AdministrationOptions {
  readonly tenant?: string | undefined
  readonly name?: string | undefined
  readonly scopes?: string | undefined
  readonly rate?: string | undefined
  readonly work?: string | undefined
  readonly expires?: string | undefined
  readonly 'allow-ip'?: readonly string[] | undefined
  readonly origin?: readonly string[] | undefined
}

/** Creates an API key. */
export async function createKey(invocation: Invocation<KeyOptions>): Promise<number> {
  const { tenant, name, scopes, rate, work, expires, 'allow-ip': allowedIps, origin } = invocation.options
  if (tenant === undefined) throw new BadUsage('a key needs an owner: set it with --tenant')
  const body = {
    tenant,
    ...(name !== undefined && { name }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(scopes !== undefined && { scopes: scopes.split(',') }),
    ...(rate !== undefined && { rate_limit_per_minute: wholeNumber('--rate', rate) }),
    ...(work !== undefined && { work_limit_per_minute: wholeNumber('--work', work) }),
    ...(allowedIps !== undefined && { allowed_ips: allowedIps }),
    ...(origin !== undefined && { cors_origins: origin })
  }
  return administer(invocation, COLUMNS, { method: 'POST', path: '/v1/admin/keys', body })
}

interface RotateOptions extends AdministrationOptions {
  readonly grace?: string | undefined
}

/** Creates a successor of an API key. */
export async function rotateKey(invocation: Invocation<RotateOptions>): Promise<number> {
  const body = { grace_seconds: wholeNumber('--grace', invocation.options.grace ?? '0') }
  return administer(invocation, COLUMNS, { method: 'POST', path: `${pathOf(invocation)}/rotate`, body })
}

/** Revokes an API key. */
export function revokeKey(invocation: Invocation<AdministrationOptions>): Promise<number> {
  return administer(invocation, COLUMNS, { method: 'DELETE', path: pathOf(invocation) })
}

function wholeNumber(flag: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new BadUsage(`${flag} is not a whole number`)
  return Number(text)
}

/** Returns the path of the key in the operands. */
function pathOf({ operands: [id = ''] }: Invocation): string {
  return `/v1/admin/keys/${encodeURIComponent(id)}`
}
