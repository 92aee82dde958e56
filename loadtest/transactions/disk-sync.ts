import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { monotonicMs } from '../stream/trades.ts'
import { summaryOf } from '../webhooks/figures.ts'

/** A group of the store's log with one submission takes about as much. */
const BYTES = 1_500

/** Measures the milliseconds that the disk takes to make an appended record durable, without other writes. */
export async function measureDiskSync(count: number, perSecond: number) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-sync-'))
  const file = await open(join(directory, 'log'), 'a')
  const record = Buffer.alloc(BYTES, 1)
  const taken: number[] = []
  const began = monotonicMs()
  try {
    for (let at = 0; at < count; at++) {
      await pause(Math.max(0, began + (at * 1_000) / perSecond - monotonicMs()))
      const startedMs = monotonicMs()
      await file.write(record)
      await file.datasync()
      taken.push(monotonicMs() - startedMs)
    }
    return summaryOf(taken)
  } finally {
    await file.close()
    rmSync(directory, { recursive: true })
  }
}
