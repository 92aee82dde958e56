import { accountFormOf } from '../../localnet/node/account-encoding.ts'
import { accountFilterOf } from '../../localnet/node/account-filters.ts'
import { paramsOf } from '../../localnet/node/method.ts'
import {
  booleanOf,
  bytesOrNull,
  commitmentOf,
  configOf,
  invalidType,
  isMap,
  listOf,
  optional,
  stringOf,
  u64Of,
  unknownVariant
} from '../../localnet/node/params.ts'
import { invalidParams, RpcError } from '../../localnet/node/rpc-error.ts'
import type { Commitment } from '../../market/rows.ts'
import { canonicalJson } from './raw-json.ts'

/** Kinds of subscriptions; the methods are `<kind>Subscribe`, `<kind>Unsubscribe` and `<kind>Notification`. */
export const SUBSCRIPTION_KINDS = ['account', 'logs', 'program', 'root', 'signature', 'slot'] as const
export type SubscriptionKind = (typeof SUBSCRIPTION_KINDS)[number]

/** A valid request for a subscription, normalized so that equal requests have one form. */
export interface SubscriptionRequest {
  readonly kind: SubscriptionKind
  /** Parameters for a node, as JSON. */
  readonly params: string
  /** Equal for requests with equal notifications. */
  readonly key: string
  /** The address or signature; null for other kinds. */
  readonly subject: string | null
  readonly commitment: Commitment
}

const METHOD = /^([a-z]+)(Subscribe|Unsubscribe)$/

/** Returns the kind and the verb of a subscription method; null for any other method. */
export function subscriptionMethod(
  method: string
): { readonly kind: SubscriptionKind; readonly isEnd: boolean } | null {
  const [, name, verb] = METHOD.exec(method) ?? []
  const kind = SUBSCRIPTION_KINDS.find((known) => known === name)
  return kind === undefined ? null : { kind, isEnd: verb === 'Unsubscribe' }
}

const COUNTS: Readonly<Record<SubscriptionKind, readonly [required: number, most: number]>> = {
  account: [1, 2],
  logs: [1, 2],
  program: [1, 2],
  root: [0, 0],
  signature: [1, 2],
  slot: [0, 0]
}

/**
 * Reads the parameters of a subscription like a node does. Throws an RpcError with the node's code and message, and
 * the field as `data`.
 */
export function readSubscription(kind: SubscriptionKind, given: unknown): SubscriptionRequest {
  const [required, most] = COUNTS[kind]
  const params = at('params', () => paramsOf({ required, most, run: () => null }, given))
  const [first, options] = params
  switch (kind) {
    case 'account':
      return readAccount(first, options)
    case 'program':
      return readProgram(first, options)
    case 'logs':
      return readLogs(first, options)
    case 'signature':
      return readSignature(first, options)
    case 'root':
      return request('root', null, 'finalized', [])
    case 'slot':
      return request('slot', null, 'processed', [])
  }
}

/** Reads the subscription id of an unsubscribe. Throws an RpcError. */
export function readSubscriptionId(given: unknown): number {
  const [id] = at('params', () => paramsOf({ required: 1, most: 1, run: () => null }, given))
  return Number(at('params[0]', () => u64Of(id)))
}

function readAccount(address: unknown, options: unknown): SubscriptionRequest {
  const subject = keyOf(address, 32, 'pubkey')
  const config = at('params[1]', () => configOf(options, 'RpcAccountInfoConfig'))
  const commitment = commitmentOf(config)
  return request('account', subject, commitment, [subject, { ...formOf(config), commitment }])
}

function readProgram(address: unknown, options: unknown): SubscriptionRequest {
  const subject = keyOf(address, 32, 'pubkey')
  const config = at('params[1]', () => configOf(options, 'RpcProgramAccountsConfig'))
  const form = formOf(config)
  const commitment = commitmentOf(config)
  at('params[1].filters', () =>
    optional(config.filters, (value) => accountFilterOf(value, 'Invalid params: '))
  )
  const filters = config.filters ?? undefined
  return request('program', subject, commitment, [subject, { ...form, commitment, filters }])
}

/** Reads the encoding of accounts. */
function formOf(config: Readonly<Record<string, unknown>>): object {
  const { encoding } = at('params[1].encoding', () => accountFormOf({ encoding: config.encoding }, 'binary'))
  const { slice } = at('params[1].dataSlice', () => accountFormOf({ dataSlice: config.dataSlice }, 'binary'))
  return { encoding, dataSlice: slice ?? undefined }
}

const LOG_KINDS = ['all', 'allWithVotes', 'mentions']

function readLogs(which: unknown, options: unknown): SubscriptionRequest {
  const mentioned = at('params[0]', () => mentionedIn(which))
  const config = at('params[1]', () => configOf(options, 'RpcTransactionLogsConfig'))
  const commitment = commitmentOf(config)
  const filter = mentioned === null ? which : { mentions: [mentioned] }
  return request('logs', mentioned, commitment, [filter, { commitment }])
}

/** Returns the mentioned address; null for all transactions. */
function mentionedIn(value: unknown): string | null {
  if (value === 'all' || value === 'allWithVotes') return null
  if (typeof value === 'string') throw unknownVariant(value, LOG_KINDS)
  if (!isMap(value)) throw invalidType(value, 'string or map')
  const [kind = '', ...others] = Object.keys(value)
  if (kind === '' || others.length > 0)
    throw invalidParams('Invalid params: invalid value: map, expected map with a single key.')
  const argument = value[kind]
  if (kind !== 'mentions') throw unknownVariant(kind, LOG_KINDS)
  const [address, more] = listOf(argument).map(stringOf)
  if (address === undefined || more !== undefined)
    throw invalidParams('Invalid Request: Only 1 address supported')
  return keyOf(address, 32, 'mentions')
}

function readSignature(signature: unknown, options: unknown): SubscriptionRequest {
  const subject = keyOf(signature, 64, 'signature')
  const config = at('params[1]', () => configOf(options, 'RpcSignatureSubscribeConfig'))
  const isNotified = at('params[1].enableReceivedNotification', () =>
    optional(config.enableReceivedNotification, booleanOf)
  )
  const commitment = commitmentOf(config)
  const more = isNotified === true ? { enableReceivedNotification: true } : {}
  return request('signature', subject, commitment, [subject, { commitment, ...more }])
}

function request(
  kind: SubscriptionKind,
  subject: string | null,
  commitment: Commitment,
  params: readonly unknown[]
): SubscriptionRequest {
  const text = canonicalJson(params)
  return { kind, subject, commitment, params: text, key: `${kind} ${text}` }
}

function keyOf(value: unknown, size: 32 | 64, thing: string): string {
  return at('params[0]', () => {
    const text = stringOf(value)
    if (bytesOrNull(text, size) === null) throw invalidParams(`Invalid Request: Invalid ${thing} provided`)
    return text
  })
}

/** Adds the field to a refusal without a field. */
function at<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof RpcError ? fault(field, error) : error
  }
}

function fault(field: string, error: RpcError): RpcError {
  return error.data === undefined
    ? new RpcError(error.code, error.message, { field: `${field}${error.place}` })
    : error
}
