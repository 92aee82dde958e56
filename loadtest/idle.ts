import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startMeasured, type MeasuredProcess } from './measured-process.ts'
import { reported, writeResult } from './result.ts'

/**
 * Measures a localnet on an otherwise idle machine: processor time until it listens; then, once its past is indexed, the
 * memory and share of a core of the idle service. Measured at the first start and after a restart.
 *
 *     node loadtest/idle.ts [SECONDS]
 */

const seconds = Number(process.argv[2] ?? 60)

async function measured(directory: string): Promise<Record<string, number>> {
  const server = await startMeasured('../src/kernel/cli/millrace.js', [
    'serve',
    '--port',
    '0',
    '--data-dir',
    directory
  ])
  try {
    const listening = server.cpuMs()
    await isLive(server)
    const indexed = server.cpuMs()
    await delay(seconds * 1000)
    const rss = server.rssMib()
    const before = server.cpuMs()
    await delay(30_000)
    return {
      cpu_ms_until_listening: listening,
      cpu_ms_until_live: indexed,
      rss_mib: Math.round(rss),
      percent_of_a_core: Number(((server.cpuMs() - before) / 300).toFixed(1))
    }
  } finally {
    await server.end()
  }
}

async function isLive({ url }: MeasuredProcess): Promise<void> {
  for (;;) {
    const { status } = (await (await fetch(`${url}/v1/health`)).json()) as { status: string }
    if (status === 'ok') return
    await delay(250)
  }
}

const directory = await mkdtemp(join(tmpdir(), 'millrace-idle-'))
try {
  const first = reported('first_start', await measured(directory))
  const restart = reported('restart', await measured(directory))
  await writeResult('idle', { seconds_after_live: seconds, first_start: first, restart })
} finally {
  await rm(directory, { recursive: true, force: true })
}
