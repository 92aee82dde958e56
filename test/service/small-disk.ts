import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

const DISK_KB = 512

/** Returns whether this process may mount file systems. */
export function canMount(): boolean {
  try {
    makeDisk('.').end()
    return true
  } catch {
    return false
  }
}

/**
 * Makes a folder and mounts a memory disk on a path in it, with some kilobytes free. Both are removed when the test has
 * ended.
 */
export function smallDisk(t: Test, path: string, freeKb: number, diskKb = DISK_KB): string {
  const { folder, end } = makeDisk(path, diskKb)
  t.teardown(end)
  writeFileSync(join(folder, path, 'filler'), Buffer.alloc((diskKb - freeKb) * 1_024))
  return folder
}

function makeDisk(path: string, diskKb = DISK_KB): { folder: string; end: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-disk-'))
  const mounted = join(folder, path)
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    mkdirSync(mounted, { recursive: true })
    const args = ['-t', 'tmpfs', '-o', `size=${diskKb}k`, 'tmpfs', mounted]
    execFileSync('mount', args, { stdio: 'ignore' })
  } catch (error) {
    remove()
    throw error
  }
  const end = (): void => {
    execFileSync('umount', [mounted])
    remove()
  }
  return { folder, end }
}
