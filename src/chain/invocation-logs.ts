import type { Instruction } from './transaction.ts'

/** The log payloads of one invocation. Decoded on access, because most are never read. */
export class InvocationLog {
  /** True when the invocation's `success` line was reached, so that no payload is missing. */
  complete = false
  #data: string[] | undefined
  #rayLogs: string[] | undefined

  /** Payloads of `Program data:` lines, base64 decoded, in order. */
  get data(): Uint8Array[] {
    return fromBase64(this.#data)
  }

  /** Payloads of `ray_log:` lines, base64 decoded, in order. */
  get rayLogs(): Uint8Array[] {
    return fromBase64(this.#rayLogs)
  }

  /** Reads one of the program's own lines, and stores its payload, if any. */
  take(line: string): void {
    // Several payloads of one `sol_log_data` call share a line, separated by spaces.
    if (line.startsWith('data: ', 8)) (this.#data ??= []).push(...line.slice(14).split(' '))
    else if (line.startsWith('log: ray_log: ', 8)) (this.#rayLogs ??= []).push(line.slice(22))
  }
}

/** Decodes payloads and drops invalid base64: a program may log any text. */
function fromBase64(texts: readonly string[] | undefined): Uint8Array[] {
  const payloads: Uint8Array[] = []
  for (const text of texts ?? []) {
    try {
      payloads.push(Uint8Array.fromBase64(text))
    } catch {
      continue
    }
  }
  return payloads
}

export interface AttachedLogs {
  /** By position in the instruction list; empty if the invoke lines do not fit the instructions. */
  readonly byInstruction: readonly (InvocationLog | undefined)[]
  /** Heights by position in the list, as the invoke lines state them; null if they end early. */
  readonly heights: readonly number[] | null
}

const COLON = 58

const NONE: AttachedLogs = { byInstruction: [], heights: null }

/**
 * Assigns each log payload to the invocation that wrote it. The k-th `invoke` line belongs to the k-th instruction in
 * execution order that the runtime logs; precompiles are not logged. Beyond its budget, the runtime drops lines even
 * between shorter lines that still fit, so reading stops at `Log truncated`.
 *
 * @param isSilent whether the runtime logs nothing for the instruction's program
 */
export function attachLogs(
  logs: readonly string[] | null,
  instructions: readonly Instruction[],
  isSilent: (instruction: Instruction) => boolean
): AttachedLogs {
  if (logs === null || logs.length === 0) return NONE
  const byInstruction: (InvocationLog | undefined)[] = []
  const heights: number[] = instructions.map((instruction) => (instruction.innerIndex === null ? 1 : 0))
  const stack: InvocationLog[] = []
  let next = 0
  let truncated = false
  for (const line of logs) {
    if (!line.startsWith('Program ')) {
      if (line.startsWith('Log truncated')) {
        truncated = true
        break
      }
      continue
    }
    // One of `Program log: …`, `Program data: …`, and `Program <address> <what>`.
    const wordEnd = line.indexOf(' ', 8)
    if (wordEnd < 0) continue
    if (line.charCodeAt(wordEnd - 1) === COLON) {
      stack.at(-1)?.take(line)
      continue
    }
    if (line.startsWith('invoke [', wordEnd + 1)) {
      while (next < instructions.length && isSilent(instructions[next]!)) next++
      const instruction = instructions[next]
      const height = Number(line.slice(wordEnd + 9, -1))
      if (instruction === undefined || height !== stack.length + 1) return NONE
      if (instruction.height !== 0 && instruction.height !== height) return NONE
      if (instruction.innerIndex === null ? height !== 1 : height < 2) return NONE
      const log = new InvocationLog()
      byInstruction[next] = log
      heights[next] = height
      stack.push(log)
      next++
    } else if (line.startsWith('success', wordEnd + 1)) {
      const log = stack.pop()
      if (log !== undefined) log.complete = true
    } else if (line.startsWith('failed', wordEnd + 1)) stack.pop()
  }
  while (next < instructions.length && isSilent(instructions[next]!)) next++
  const complete = !truncated && next === instructions.length
  if (!truncated && !complete) return NONE
  return { byInstruction, heights: complete ? heights : null }
}
