/**
 * Outlives the process that starts servers, to end what it left: it reads what runs from standard input, and at its
 * end, which a crash brings as well, kills those processes and removes those folders. Lines are JSON.
 */
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReaperLine } from './server-process.ts'

/** Where nothing collects orphans, they stay listed after they ended. */
const GONE_WITHIN_MS = 5_000
const processes = new Set<number>()
const folders = new Set<string>()

for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line) as ReaperLine
  if ('started' in told) processes.add(told.started)
  else if ('ended' in told) processes.delete(told.ended)
  else if ('made' in told) folders.add(told.made)
  else folders.delete(told.removed)
}
const deadline = performance.now() + GONE_WITHIN_MS
for (const pid of processes) signal(pid, 'SIGKILL')
for (const pid of processes) while (signal(pid, 0) && performance.now() < deadline) await delay(50)
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Sends a signal, or with 0 only asks; false once there is no such process. */
function signal(pid: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
