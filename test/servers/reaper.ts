/**
 * Outlives the process that starts servers, and cleans up after it. It reads from standard input what runs, one JSON object
 * a line. At the end of input, which a crash also causes, it kills those processes and deletes those folders.
 */
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { ReaperLine } from './server-process.ts'

/** Milliseconds to wait for the end of a process. If orphans are not collected, they stay listed after their end. */
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

/** Sends a signal; 0 only checks. Returns false if there is no such process. */
function signal(pid: number, name: 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
