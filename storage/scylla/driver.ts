import { auth, Client, policies, types } from 'cassandra-driver'
import type { HostMap, QueryOptions } from 'cassandra-driver'
import type { TlsOptions } from '../tls-options.ts'
import { CQL_STEP_MS, CQL_TRY_MS } from '../../src/kernel/time-limits.ts'
import { HealthyNodesFirst, NodeHealth } from './node-health.ts'

/** Timeout of each try of an operation without a deadline: a server's default limit for a write. */
const PATIENT_TRY_MS = 2_000
const CONNECT_MS = 3_000
/** Heartbeat interval of idle connections, in milliseconds, so that a node that hangs is left early. */
const HEARTBEAT_MS = 5_000
/** Tries without an answer after which a connection is abandoned. */
const UNANSWERED_MAX = 16
/**
 * Milliseconds without an answer after which an idempotent statement is sent to a second node, too. A read takes 1 to 5 ms,
 * a batch of half a megabyte 30. The limits are twenty and ten times that, so healthy nodes rarely get a statement twice.
 */
const SECOND_NODE_AFTER_MS = { read: 100, write: 300 }
/** Pauses between tries to reach a node that is down, in milliseconds, as those of the session (`session.ts`). */
const RECONNECT_MS = { first: 100, most: 1_000 }

export interface DriverOptions {
  /** `host` or `host:port`. */
  readonly contactPoints: readonly string[]
  /** CQL port of every node. */
  readonly port: number
  readonly datacenter: string
  readonly username: string | null
  readonly password: string | null
  /** Omitted for connections without TLS. */
  readonly tls?: TlsOptions
  /** Milliseconds for which a read is retried that the cluster does not answer. Default: within the time of an answer. */
  readonly readRetryMs?: number
}

const { localQuorum, localSerial } = types.consistencies

/** Acknowledged, or answered, by a majority of the local datacenter's replicas. */
export const QUORUM: QueryOptions = {
  prepare: true,
  isIdempotent: true,
  consistency: localQuorum,
  readTimeout: CQL_TRY_MS,
  captureStackTrace: false
}
/** Writes, and reads of commits. */
export const PATIENT: QueryOptions = { ...QUORUM, readTimeout: PATIENT_TRY_MS }
/** The driver never repeats conditional writes: the client checks first whether one took effect. */
export const CONDITIONAL: QueryOptions = {
  ...QUORUM,
  isIdempotent: false,
  serialConsistency: localSerial
}
/** Sees, and finishes, conditional writes under way. */
export const SERIAL: QueryOptions = { ...QUORUM, consistency: localSerial }
/** One partition each, so that the batch is one write for its replicas and needs no log. */
export const BATCH: QueryOptions = { ...PATIENT, logged: false }
export const CONDITIONAL_BATCH: QueryOptions = { ...CONDITIONAL, logged: true }

/** A change of the schema takes a server a second or two, and several at a time as much longer. */
export const DEFINITION: QueryOptions = { consistency: localQuorum, readTimeout: 30_000 }

/** A driver, and the choice of nodes that it makes. */
export interface NewDriver {
  readonly driver: Client
  /** The nodes; to be queried once the driver has connected. */
  readonly nodes: LocalNodes
  /** Health of the nodes; to be kept up to date once the driver has connected. */
  readonly health: NodeHealth
}

/** A driver that is not connected yet. */
export function newDriver(options: DriverOptions, keyspace: string | null): NewDriver {
  const { contactPoints, port, datacenter, username, password, tls } = options
  const { loadBalancing, reconnection } = policies
  const nodes = new LocalNodes(datacenter)
  const health = new NodeHealth()
  const driver = new Client({
    contactPoints: [...contactPoints],
    ...(keyspace === null ? {} : { keyspace }),
    ...(username === null ? {} : { authProvider: new auth.PlainTextAuthProvider(username, password ?? '') }),
    // The driver itself would accept any certificate.
    ...(tls !== undefined && { sslOptions: { ...tls, rejectUnauthorized: true } }),
    // Nodes that the contact points report are reached at the same port.
    protocolOptions: { port },
    policies: {
      loadBalancing: new HealthyNodesFirst(new loadBalancing.TokenAwarePolicy(nodes), health),
      reconnection: new reconnection.ExponentialReconnectionPolicy(RECONNECT_MS.first, RECONNECT_MS.most),
      retry: new OtherNodeOnce(),
      speculativeExecution: new SecondNodeOnce()
    },
    pooling: { heartBeatInterval: HEARTBEAT_MS },
    socketOptions: {
      connectTimeout: CONNECT_MS,
      readTimeout: CQL_STEP_MS,
      defunctReadTimeoutThreshold: UNANSWERED_MAX
    },
    // Each node prepares a statement when it first gets it. Preparing on all nodes at once would wait for one that hangs.
    prepareOnAllHosts: false,
    // The ring is needed for routing, which a connection without a keyspace does not do.
    isMetadataSyncEnabled: keyspace !== null,
    // 64-bit integers are bigint; blobs stay in the buffer they came in until a caller copies them.
    encoding: { useBigIntAsLong: true, copyBuffer: false }
  })
  return { driver, nodes, health }
}

/**
 * The nodes of the datacenter, which only this class names. If the datacenter has no node, the driver itself would fail to
 * connect, and leave a connection open. Here the error is reported after connecting instead.
 */
export class LocalNodes extends policies.loadBalancing.DCAwareRoundRobinPolicy {
  problem: Error | null = null

  override init(client: Client, hosts: HostMap, callback: (error: Error) => void): void {
    super.init(client, hosts, (error: Error | null | undefined) => {
      this.problem = error ?? null
      ;(callback as () => void)()
    })
  }
}

const { ConstantSpeculativeExecutionPolicy } = policies.speculativeExecution
type SpeculativePlan = ReturnType<policies.speculativeExecution.SpeculativeExecutionPolicy['newPlan']>

/** Sends an idempotent statement to a second node where the first does not answer in time. */
class SecondNodeOnce extends ConstantSpeculativeExecutionPolicy {
  readonly #ofWrites = new ConstantSpeculativeExecutionPolicy(SECOND_NODE_AFTER_MS.write, 1)

  constructor() {
    super(SECOND_NODE_AFTER_MS.read, 1)
  }

  override newPlan(keyspace: string, query: string | object[]): SpeculativePlan {
    const isRead = typeof query === 'string' && query.startsWith('SELECT')
    return isRead ? super.newPlan(keyspace, query) : this.#ofWrites.newPlan(keyspace, query)
  }
}

/**
 * Within one try a statement goes to one other node at most, without a pause, because a coordinator may be cut off while
 * another coordinator is not. The client (`client.ts`) waits and tries again. The driver calls this only for idempotent
 * statements, or for replicas known to be down, when nothing was done.
 */
class OtherNodeOnce extends policies.retry.RetryPolicy {
  override onRequestError(info: policies.retry.OperationInfo): policies.retry.DecisionInfo {
    return this.#once(info)
  }

  override onUnavailable(info: policies.retry.OperationInfo): policies.retry.DecisionInfo {
    return info.executionOptions.isIdempotent() ? this.#once(info) : this.rethrowResult()
  }

  override onReadTimeout(info: policies.retry.OperationInfo): policies.retry.DecisionInfo {
    return this.#once(info)
  }

  override onWriteTimeout(): policies.retry.DecisionInfo {
    return this.rethrowResult()
  }

  #once(info: policies.retry.OperationInfo): policies.retry.DecisionInfo {
    // Undefined leaves the consistency level unchanged.
    return info.nbRetry === 0
      ? this.retryResult(undefined as unknown as types.consistencies, false)
      : this.rethrowResult()
  }
}
