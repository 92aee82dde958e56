import { auth, Client, policies, types } from 'cassandra-driver'
import type { HostMap, QueryOptions } from 'cassandra-driver'

/** Each try of a statement; the server gives up a read after 5 s and a write after 2 s by default. Chosen. */
const TRY_MS = 2_000
const CONNECT_MS = 3_000
/** An idle connection is asked whether it lives this often, so that a node that hangs is left soon. */
const HEARTBEAT_MS = 5_000
/** Tries without an answer after which a connection is given up. */
const UNANSWERED_MAX = 16
/** A statement that has no answer by then is sent to a second node too: all that are sent so may be done twice. */
const SECOND_NODE_AFTER_MS = 300
/** Pauses between tries to reach a node that is down, as those of the session (`session.ts`). */
const RECONNECT_MS = { first: 100, most: 1_000 }

export interface DriverOptions {
  /** `host` or `host:port`. */
  readonly contactPoints: readonly string[]
  /** Of every node. */
  readonly port: number
  readonly datacenter: string
  readonly username: string | null
  readonly password: string | null
}

const { localQuorum, localSerial } = types.consistencies

/** A majority of the local datacenter's replicas has a write, or answers a read. */
export const QUORUM: QueryOptions = {
  prepare: true,
  isIdempotent: true,
  consistency: localQuorum,
  captureStackTrace: false
}
/** Conditional writes are never repeated by the driver: whether one was done is looked at first. */
export const CONDITIONAL: QueryOptions = {
  ...QUORUM,
  isIdempotent: false,
  serialConsistency: localSerial
}
/** Sees, and finishes, what conditional writes have under way. */
export const SERIAL: QueryOptions = { ...QUORUM, consistency: localSerial }
/** One partition each, so that the batch is one write for its replicas and needs no log. */
export const BATCH: QueryOptions = { ...QUORUM, logged: false }
export const CONDITIONAL_BATCH: QueryOptions = { ...CONDITIONAL, logged: true }

/** A change of the schema takes a server a second or two, and several at a time as much longer. */
export const DEFINITION: QueryOptions = { consistency: localQuorum, readTimeout: 30_000 }

/** A driver that is not connected yet, and its choice of nodes, to be asked once it is. */
export function newDriver(
  options: DriverOptions,
  keyspace: string | null
): { readonly driver: Client; readonly nodes: LocalNodes } {
  const { contactPoints, port, datacenter, username, password } = options
  const { loadBalancing, reconnection, speculativeExecution } = policies
  const nodes = new LocalNodes(datacenter)
  const driver = new Client({
    contactPoints: [...contactPoints],
    ...(keyspace === null ? {} : { keyspace }),
    ...(username === null ? {} : { authProvider: new auth.PlainTextAuthProvider(username, password ?? '') }),
    // Nodes that the contact points tell of are reached at the same port.
    protocolOptions: { port },
    policies: {
      loadBalancing: new loadBalancing.TokenAwarePolicy(
        new loadBalancing.DCAwareRoundRobinPolicy(datacenter)
      ),
      reconnection: new reconnection.ExponentialReconnectionPolicy(RECONNECT_MS.first, RECONNECT_MS.most),
      retry: new OtherNodeOnce(),
      speculativeExecution: new speculativeExecution.ConstantSpeculativeExecutionPolicy(
        SECOND_NODE_AFTER_MS,
        1
      )
    },
    pooling: { heartBeatInterval: HEARTBEAT_MS },
    socketOptions: {
      connectTimeout: CONNECT_MS,
      readTimeout: TRY_MS,
      defunctReadTimeoutThreshold: UNANSWERED_MAX
    },
    // The ring is needed for routing, which a connection without a keyspace does not do.
    isMetadataSyncEnabled: keyspace !== null,
    // Integers of 64 bits are bigint; blobs stay in the buffer they came in until somebody keeps one.
    encoding: { useBigIntAsLong: true, copyBuffer: false }
  })
  return { driver, nodes }
}

/**
 * The nodes of the datacenter, which is named here alone: where there are none the driver would fail to connect, and leave
 * a connection open. That is said afterwards instead.
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

/**
 * Within one try a statement goes to one other node at most: at once, since a coordinator may be cut off where another
 * is not. Waiting and trying again is the client's (`client.ts`). The driver asks for idempotent statements alone,
 * except about replicas that are known to be down, when nothing was done.
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
    // Left out, the level of consistency stays as it is.
    return info.nbRetry === 0
      ? this.retryResult(undefined as unknown as types.consistencies, false)
      : this.rethrowResult()
  }
}
