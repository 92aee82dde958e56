import { errors, types } from 'cassandra-driver'
import { ERRORS, LostClaim, ServiceError, UnknownOutcome } from '../../src/kernel/errors.ts'

const { responseErrorCodes: CODES } = types
/** Answers of a server that may change within a moment. */
const PASSING: ReadonlySet<number> = new Set([
  CODES.serverError,
  CODES.unavailableException,
  CODES.overloaded,
  CODES.isBootstrapping,
  CODES.truncateError,
  CODES.writeTimeout,
  CODES.readTimeout,
  CODES.readFailure,
  CODES.writeFailure
])

/** Answers that show that nodes are down. */
const LOSSES: ReadonlySet<number> = new Set([CODES.unavailableException, CODES.isBootstrapping])

/**
 * Tells whether the cluster does not answer right now: no node can be reached, too few replicas are up, or the time is over.
 * A write that ended so may have been done or not.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof errors.ResponseError) return PASSING.has(error.code) && !isOfDroppedTable(error)
  return (
    error instanceof errors.NoHostAvailableError ||
    error instanceof errors.OperationTimedOutError ||
    error instanceof errors.BusyConnectionError ||
    isSocketError(error) ||
    isWithoutConnection(error)
  )
}

/**
 * Tells whether a node was lost: its connection broke, no node can be reached, or others report that it is down. A slow node
 * does not count.
 */
export function isLoss(error: unknown): boolean {
  if (error instanceof errors.ResponseError) return LOSSES.has(error.code)
  return error instanceof errors.NoHostAvailableError || isSocketError(error) || isWithoutConnection(error)
}

/** Tells whether a statement was refused because an object that it names does not exist. */
export function isMissing(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  if (!(cause instanceof errors.ResponseError)) return false
  if (isOfDroppedTable(cause)) return true
  return cause.code === Number(CODES.invalid) && /does not exist|unconfigured table/i.test(cause.message)
}

/** Tells whether Cassandra has refused a prepared statement because its table was dropped: with an error of the server. */
const isOfDroppedTable = ({ code, message }: errors.ResponseError): boolean =>
  code === Number(CODES.serverError) && message.includes('Unknown CF ')

/** Tells whether a statement was refused because a column that it adds exists. */
export const isThere = (error: unknown): boolean =>
  error instanceof errors.ResponseError &&
  error.code === Number(CODES.invalid) &&
  /already exists|conflicts with an existing column/i.test(error.message)

/** Text of an error in one line; of several nodes, the first that has one. */
export function reasonOf(error: unknown): string {
  if (error instanceof errors.NoHostAvailableError) {
    const [host, inner] = firstInner(error)
    if (host === undefined) return 'no node of the cluster is up'
    return `${host}: ${inner === null ? 'no answer' : reasonOf(inner)}`
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0]!
}

/** Error for a caller that the store cannot answer now. */
export function unanswered(cause: unknown): ServiceError {
  return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `the store does not answer: ${reasonOf(cause)}`, {
    cause
  })
}

/** Error for a caller whose write was done or not: the store does not answer. */
export const lostAnswer = (cause: unknown): UnknownOutcome =>
  new UnknownOutcome(`the store does not answer: ${reasonOf(cause)}`, cause)

/** Error for a caller whose statement the server refuses; a retry does not change it. `keyspace` is that of the statement. */
export function refused(cause: unknown, keyspace: string | null = null): ServiceError {
  if (keyspace !== null && isMissing(cause)) {
    const detail = `the keyspace ${keyspace}, or a table of it, is not there (${reasonOf(cause)}): it was dropped, or is not created yet; restore it from a snapshot, or restart to create it empty`
    return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, detail, { cause })
  }
  return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, `the store refuses: ${reasonOf(cause)}`, { cause })
}

export const closed = (): ServiceError => new ServiceError(ERRORS.STORAGE_UNAVAILABLE, 'the store is closed')

/** Error for claims and commits of a process whose claim was taken over. `token` is that of the claim that outranks it. */
export const superseded = (token: bigint | null = null): LostClaim =>
  new LostClaim(
    ERRORS.STORAGE_UNAVAILABLE,
    'another process writes now: this one has lost its claim to write blocks',
    { outrankedBy: token === null ? null : Number(token) }
  )

/** Error for commits that are built on one that the cluster no longer has. */
export const forgotten = (): ServiceError =>
  new LostClaim(
    ERRORS.STORAGE_UNAVAILABLE,
    'the cluster has forgotten the last blocks that it acknowledged: its nodes need commitlog_sync: batch, or more replicas'
  )

/** User and addresses of a connection, as problems at the start name them. */
export interface ConnectTarget {
  readonly contactPoints: readonly string[]
  readonly datacenter: string
  readonly keyspace: string
  readonly username: string | null
}

/** The reason why a start must wait: no server answers so far, or another process is changing the schema. */
export class NotYetOpen extends ServiceError {}

/** A failed start in one line that says what to do about it; NotYetOpen where waiting may help. */
export function startProblem(error: unknown, target: ConnectTarget): ServiceError {
  if (error instanceof ServiceError) {
    const isPassing = isOutage(error.cause) || isMissing(error)
    return isPassing ? new NotYetOpen(error.kind, error.detail, { cause: error.cause }) : error
  }
  const refusal = startRefusal(error, target)
  if (refusal !== null) return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, refusal, { cause: error })
  const points = target.contactPoints.join(', ')
  const reason = reasonOf(error)
  if (!isOutage(error)) {
    const detail = `the store at ${points} cannot be used: ${reason}`
    return new ServiceError(ERRORS.STORAGE_UNAVAILABLE, detail, { cause: error })
  }
  const detail = `no CQL server answers at ${points} (${reason}): start it, or correct MILLRACE_SCYLLA_CONTACT_POINTS and MILLRACE_SCYLLA_PORT`
  return new NotYetOpen(ERRORS.STORAGE_UNAVAILABLE, detail, { cause: error })
}

/** The reason why a cluster that answers refuses the login; null if that is not the problem. */
function startRefusal(error: unknown, target: ConnectTarget): string | null {
  const { contactPoints, datacenter, keyspace, username } = target
  const inner = innermost(error)
  const reason = reasonOf(error)
  const points = contactPoints.join(', ')
  if (inner instanceof errors.AuthenticationError || /authenticat|credentials/i.test(reason))
    return username === null
      ? `the cluster at ${points} requires a user name and a password: set MILLRACE_SCYLLA_USERNAME and MILLRACE_SCYLLA_PASSWORD`
      : `the cluster at ${points} does not accept the user ${username} with this password: correct MILLRACE_SCYLLA_USERNAME or MILLRACE_SCYLLA_PASSWORD`
  if (/\bcertificate\b/i.test(reason))
    return `TLS to the cluster at ${points} fails (${reason}): correct MILLRACE_SCYLLA_TLS_CA, MILLRACE_SCYLLA_TLS_SERVER_NAME, or MILLRACE_SCYLLA_TLS_CERTIFICATE and its key`
  const known = /Available DCs are: \[(.*)\]/.exec(reason)?.[1]
  if (known !== undefined)
    return `the cluster has no datacenter ${datacenter}: set MILLRACE_SCYLLA_DATACENTER to ${known.split(',').join(' or ')}`
  if (inner instanceof errors.ResponseError && inner.code === Number(CODES.unauthorized))
    return `the user ${username ?? '(none)'} lacks a right: grant it CREATE, ALTER, SELECT and MODIFY on the keyspace ${keyspace} (${reasonOf(inner)})`
  return null
}

function innermost(error: unknown): unknown {
  return error instanceof errors.NoHostAvailableError ? (firstInner(error)[1] ?? error) : error
}

/** The first node that gave an error, with it; nothing if no node was tried. */
function firstInner(error: errors.NoHostAvailableError): readonly [host?: string, error?: unknown] {
  const tried = Object.entries((error.innerErrors ?? {}) as Record<string, unknown>)
  return tried.find(([, inner]) => inner !== null) ?? tried[0] ?? []
}

/**
 * Tells whether a node had lost its last connection and did not count as down yet. For a statement the driver then tries the
 * next node. While preparing a statement it does not, and rejects with this plain error.
 */
const isWithoutConnection = (error: unknown): boolean =>
  error instanceof Error && error.message === 'No connection available'

function isSocketError(error: unknown): boolean {
  return error instanceof Error && 'isSocketError' in error && error.isSocketError === true
}
