import { randomUUID } from 'node:crypto'

const COUNTER_DIGITS = 12
const COUNTER_END = 16 ** COUNTER_DIGITS

/**
 * Returns a generator of request ids in the form of a UUID: random digits of the process, then a counter. A random id
 * for each request would cost a hundredth of its time.
 */
export function requestIds(): () => string {
  const process = randomUUID().slice(0, -COUNTER_DIGITS)
  let count = 0
  return () => {
    count = (count + 1) % COUNTER_END
    return process + count.toString(16).padStart(COUNTER_DIGITS, '0')
  }
}
