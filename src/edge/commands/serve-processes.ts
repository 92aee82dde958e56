import { fork, type ChildProcess } from 'node:child_process'
import { childProcess } from '../../../actors/processes/child-process.ts'
import { CollectedMetrics } from '../../../actors/processes/collected-metrics.ts'
import { reservePort } from '../../../actors/processes/reserved-port.ts'
import type { ChildMessage } from '../../../actors/processes/process-messages.ts'
import { supervise } from '../../../actors/supervision/supervisor.ts'
import { child, supervisor } from '../../../actors/supervision/unit.ts'
import { StartRefused } from '../../../machines/start-refused.ts'
import type { Policy } from '../../../machines/unit.ts'
import type { Invocation } from '../../kernel/cli/command.ts'
import { urlHost } from '../../kernel/cli/url-host.ts'
import type { Config } from '../../kernel/config/config.ts'
import { configWarnings, deploymentRefusal } from '../../kernel/config/deployment.ts'
import { rolesOfProcesses } from '../../kernel/config/process-roles.ts'
import { createLogger } from '../../kernel/telemetry/logger.ts'
import { systemPorts } from '../../ports.ts'
import { listeningRefusal } from './ports.ts'

/** Milliseconds of a process from its drain to its end: the service's own 10 s, its kill of 2 s, and one more. */
const DRAIN_MS = 13_000
/** Milliseconds from a SIGKILL to the end of a process. */
const KILL_MS = 2_000
/**
 * Milliseconds that a start may take beside its wait for the servers: ten minutes, far more than a process needs to load what
 * it answers from.
 */
const START_MS = 600_000

/** A process to start: its number from 1, and its roles. */
interface Member {
  readonly number: number
  readonly roles: Config['role']
  /** Whether it listens on the port of the service. */
  readonly isShared: boolean
}

/**
 * Runs several processes until it is interrupted, and restarts those that end. Their gateways share one port, over
 * which the operating system spreads the connections. Resolves with the exit code.
 */
export async function serveProcesses({
  config,
  configuration,
  stdout,
  stderr,
  interrupted
}: Invocation): Promise<number> {
  const refusal = deploymentRefusal(config)
  const place = refusal ?? (await listeningRefusal(config)) ?? (await reservePort(config.host, config.port))
  if (typeof place === 'string') {
    stderr(`millrace: ${place}`)
    return refusal === null ? 1 : 2
  }
  using reserved = place
  const logger = createLogger(config, configuration.configMask(config))
  for (const warning of configWarnings(config)) logger.warn(warning)
  const members = membersOf(config)
  const collected = new CollectedMetrics(systemPorts.clock)
  let isAnnounced = false
  const announce = ({ isShared }: Member, message: ChildMessage): void => {
    if (message.millrace !== 'listening' || !isShared || isAnnounced) return
    isAnnounced = true
    reserved.release()
    stdout(`listening on http://${urlHost(config.host)}:${message.port}`)
  }
  const drainMs = config.drainDelaySeconds * 1_000 + DRAIN_MS
  const policy: Partial<Policy> = {
    startMs: config.startupWaitSeconds * 1_000 + START_MS,
    drainMs,
    killMs: KILL_MS
  }
  const units = members.map((member) => {
    const { number, roles } = member
    let pid: number | undefined
    const run = childProcess({
      start() {
        const started = startMember(member, reserved.port, config)
        pid = started.pid
        return started
      },
      clock: systemPorts.clock,
      onStdout: stdout,
      onStderr: stderr,
      onMessage(message, answer) {
        announce(member, message)
        if (message.millrace === 'ready') {
          collected.join(number, answer)
          logger.info({ process: number, pid }, `process ${number} is ready: ${roles.join(', ')}`)
        } else collected.hear(number, message, answer)
      }
    })
    return child(
      `${number}`,
      async (scope) => {
        try {
          await run(scope)
        } finally {
          collected.leave(number)
        }
      },
      policy
    )
  })
  await using supervision = supervise(
    supervisor('processes', 'one_for_one', units),
    systemPorts,
    { drainMs: drainMs + KILL_MS, killMs: KILL_MS },
    (path, err) => {
      if (err instanceof StartRefused) return
      logger.warn({ process: Number(path) || null, err }, `process ${path} is restarted: ${err.message}`)
    }
  )
  const drain = (): void => {
    logger.info('draining all processes; a second signal ends at once')
    void supervision.drain()
  }
  if (interrupted.aborted) drain()
  interrupted.addEventListener('abort', drain)
  const output = await supervision.done
  if (output.kind !== 'failed') return 0
  if (output.error instanceof StartRefused) stderr(`millrace: ${output.error.message}`)
  else logger.fatal({ err: output.error }, `the processes failed: ${output.error.message}`)
  return 1
}

/** Returns the processes of a configuration. If none is a gateway, all of them share the port, and answer probes there. */
function membersOf(config: Config): readonly Member[] {
  const all = rolesOfProcesses(config)
  const hasGateway = all.some((roles) => roles.includes('gateway'))
  return all.map((roles, index) => ({
    number: index + 1,
    roles: [...roles],
    isShared: !hasGateway || roles.includes('gateway')
  }))
}

/** Starts a process with the arguments of this one. Later flags win over earlier ones. */
function startMember({ number, roles, isShared }: Member, port: number, { logFormat }: Config): ChildProcess {
  const format = logFormat ?? (process.stderr.isTTY ? 'pretty' : 'json')
  // Only the operator of this machine asks one without the shared port for its tree: probes and metrics are answered there.
  const place = isShared ? ['--port', String(port)] : ['--host', '127.0.0.1', '--port', '0']
  const args = [
    ...process.argv.slice(2),
    ...['--role', roles.join(','), '--processes', '1', '--child', String(number), '--log-format', format],
    ...place
  ]
  return fork(process.argv[1]!, args, { silent: true, serialization: 'advanced' })
}
