import type { Ports } from '../../../src/ports.ts'
import type { Logger } from '../../../src/kernel/telemetry/logger.ts'
import type { LeaderMetrics } from '../../../src/transactions/leader-metrics.ts'
import type { LeaderSender } from '../../../src/transactions/ports.ts'
import { tlsIdentity, type TlsIdentity } from '../../../src/transactions/tpu/certificate.ts'
import type { LeaderIdentity } from '../../../src/transactions/tpu/identity.ts'
import type { LeaderNode } from '../../../src/transactions/tpu/leader-node.ts'
import type { QuicTransport } from '../../../src/transactions/tpu/quic.ts'
import { aborted, unlessAborted } from '../../supervision/aborted.ts'
import { AutoResetEvent } from '../../supervision/auto-reset-event.ts'
import {
  DynamicSupervisor,
  type Member,
  type MemberPolicy,
  type MemberScope
} from '../../supervision/dynamic-supervisor.ts'
import type { Run } from '../../supervision/process.ts'
import { LeaderLinks } from './leader-links.ts'
import { QuicThread, QuicUnavailable } from './quic-thread.ts'
import { ScheduledLeaders } from './scheduled-leaders.ts'

/** A transport that may end by itself. */
export type EndingTransport = QuicTransport & {
  /** Resolves at its end, with the error that ended it. */
  readonly ended: Promise<Error | null>
  close(): Promise<void>
}

export interface LeadersOptions {
  readonly openNode: () => LeaderNode
  /** Returns the identity that leaders see. */
  readonly identity: () => Promise<LeaderIdentity>
  /** Rejects with QuicUnavailable where there is no QUIC on this machine. */
  readonly startTransport?: (identity: TlsIdentity) => Promise<EndingTransport>
}

export interface LeadersDeps extends Ports {
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly metrics: LeaderMetrics
}

/** One thread, whose library may crash it. Until it is back, transactions go by the operator's node. */
const THREAD_POLICY: MemberPolicy = {
  restart: 'transient',
  intensity: { crashes: 20, periodMs: 60_000 },
  backoff: { floorMs: 1_000, ceilingMs: 60_000 },
  stableAfterMs: 60_000
}

/**
 * Sends transactions straight to leaders, and gives the sender. A fault of the node or of QUIC crashes nothing: the sender
 * then says 0, and transactions go by the operator's node alone. The QUIC library is loaded once the node lists leaders that
 * accept it.
 */
export function leaders(options: LeadersOptions, deps: LeadersDeps): Run<unknown, LeaderSender> {
  const { clock, random, logger, metrics } = deps
  const startTransport = options.startTransport ?? ((identity) => QuicThread.start(identity))
  return async ({ draining, ready, gauge, supervises, report }) => {
    const tls = tlsIdentity((await options.identity()).privateKey)
    const wake = new AutoResetEvent()
    const node = options.openNode()
    const scheduled = new ScheduledLeaders(node, clock, () => wake.set())
    const threads = new DynamicSupervisor(THREAD_POLICY, { clock, random, report })
    supervises('threads', () => threads)
    let thread: Member | null = null
    let links: LeaderLinks | null = null
    let isUnavailable = false
    let isNodeDown = false
    gauge('nodes', () => scheduled.nodes)
    gauge('connections', () => links?.connections ?? 0)
    gauge('waiting', () => links?.waiting ?? 0)
    metrics.show(() => links?.connections ?? 0)
    ready(scheduled)
    try {
      while (!draining.aborted && !isUnavailable) {
        await refresh()
        if (scheduled.nodes > 0) thread ??= threads.start('the QUIC thread', runThread)
        await wake.wait(clock, scheduled.nextMs, draining)
      }
      await aborted(draining)
    } finally {
      metrics.show(null)
      await Promise.all([threads.drain(AbortSignal.abort()), node.close()])
    }

    async function refresh(): Promise<void> {
      try {
        const hasAnswered = await scheduled.refresh(draining)
        if (!isNodeDown || !hasAnswered) return
        logger.info('the node returns the leader schedule now')
        isNodeDown = false
      } catch (error) {
        if (draining.aborted) return
        if (!isNodeDown)
          logger.warn(`the node does not return the leader schedule: ${(error as Error).message}`)
        isNodeDown = true
      }
    }

    async function runThread({ signal }: MemberScope): Promise<void> {
      const transport = await startTransport(tls).catch((error: unknown) => {
        if (!(error instanceof QuicUnavailable)) throw error
        logger.warn(
          `QUIC is not available on this machine, so transactions are sent only to the node, not directly to leaders: ${error.message}`
        )
        isUnavailable = true
        wake.set()
      })
      if (transport === undefined) return
      links = new LeaderLinks(transport, clock, (outcome) => metrics.writes.inc({ outcome }))
      scheduled.serve(links)
      wake.set()
      try {
        throw (await unlessAborted(transport.ended, signal)) ?? new Error('it ended without a reason')
      } finally {
        scheduled.serve(null)
        links.close()
        links = null
        await transport.close()
      }
    }
  }
}
