import { backoffMs, jittered } from '../../../machines/backoff.ts'
import type { Ports } from '../../../src/ports.ts'
import type { Logger } from '../../../src/telemetry/logger.ts'
import type { LeaderMetrics } from '../../../src/telemetry/leader-metrics.ts'
import type { LeaderSender } from '../../../src/transactions/ports.ts'
import { tlsIdentity, type TlsIdentity } from '../../../src/transactions/tpu/certificate.ts'
import type { LeaderIdentity } from '../../../src/transactions/tpu/identity.ts'
import type { LeaderNode } from '../../../src/transactions/tpu/leader-node.ts'
import type { QuicTransport } from '../../../src/transactions/tpu/quic.ts'
import { aborted } from '../../supervision/aborted.ts'
import { AutoResetEvent } from '../../supervision/auto-reset-event.ts'
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

/** Milliseconds from the end of the QUIC thread to its next start. */
const RESTART = { floorMs: 1_000, ceilingMs: 60_000 } as const
/** Milliseconds that a thread must live for the next restart to be quick again. */
const STABLE_MS = 60_000

/**
 * Sends transactions straight to leaders, and gives the sender. A fault of the node or of QUIC crashes nothing: the sender
 * then says 0, and transactions go by the operator's node alone. The QUIC library is loaded once the node lists leaders that
 * accept it.
 */
export function leaders(options: LeadersOptions, deps: LeadersDeps): Run<unknown, LeaderSender> {
  const { clock, random, logger, metrics } = deps
  const startTransport = options.startTransport ?? ((identity) => QuicThread.start(identity))
  return async ({ draining, ready, gauge, report }) => {
    const tls = tlsIdentity((await options.identity()).privateKey)
    const wake = new AutoResetEvent()
    const node = options.openNode()
    const scheduled = new ScheduledLeaders(node, clock, () => wake.set())
    const quic: { links: LeaderLinks | null; transport: EndingTransport | null } = {
      links: null,
      transport: null
    }
    let isNodeDown = false
    const restart = { attempt: 0, startedAtMs: 0, dueMs: -Infinity }
    gauge('nodes', () => scheduled.nodes)
    gauge('connections', () => quic.links?.connections ?? 0)
    gauge('waiting', () => quic.links?.waiting ?? 0)
    metrics.show(() => quic.links?.connections ?? 0)
    ready(scheduled)
    try {
      while (!draining.aborted) {
        await refresh()
        if (scheduled.nodes > 0 && quic.transport === null && clock.now() >= restart.dueMs) await start()
        const untilRestartMs = quic.transport === null ? restart.dueMs - clock.now() : Infinity
        const ms = untilRestartMs > 0 ? Math.min(scheduled.nextMs, untilRestartMs) : scheduled.nextMs
        await wake.wait(clock, ms, draining)
      }
    } catch (error) {
      if (!(error instanceof QuicUnavailable)) throw error
      logger.warn(
        `QUIC is not available on this machine, so transactions are sent only to the node, not directly to leaders: ${error.message}`
      )
      await aborted(draining)
    } finally {
      metrics.show(null)
      scheduled.serve(null)
      quic.links?.close()
      await Promise.all([quic.transport?.close(), node.close()])
    }

    async function refresh(): Promise<void> {
      try {
        const hasAnswered = await scheduled.refresh(draining)
        if (!isNodeDown || !hasAnswered) return
        logger.info('the node returns the leader schedule again')
        isNodeDown = false
      } catch (error) {
        if (draining.aborted) return
        if (!isNodeDown)
          logger.warn(`the node does not return the leader schedule: ${(error as Error).message}`)
        isNodeDown = true
      }
    }

    async function start(): Promise<void> {
      restart.startedAtMs = clock.now()
      try {
        const started = await startTransport(tls)
        quic.transport = started
        quic.links = new LeaderLinks(started, clock, (outcome) => metrics.writes.inc({ outcome }))
        scheduled.serve(quic.links)
        void started.ended.then(ended)
      } catch (error) {
        if (error instanceof QuicUnavailable) throw error
        ended(error as Error)
      }
    }

    function ended(error: Error | null): void {
      if (draining.aborted) return
      scheduled.serve(null)
      quic.links?.close()
      quic.links = quic.transport = null
      const isStable = clock.now() - restart.startedAtMs >= STABLE_MS
      restart.attempt = isStable ? 1 : restart.attempt + 1
      restart.dueMs = clock.now() + jittered(backoffMs(RESTART, restart.attempt), random())
      report(new Error(`the QUIC thread ended: ${error?.message ?? 'no reason'}`, { cause: error }))
      wake.set()
    }
  }
}
