/** Offsets in milliseconds below this are the resolution of the header and the way of the answer. */
const TOLERATED_MS = 3_000

let offsetMs = 0

/** Learns the service's clock from the `Date` of an answer: that of the browser may be an hour off. */
export function learnClock(date: string | null): void {
  const serviceMs = date === null ? NaN : Date.parse(date)
  if (Number.isNaN(serviceMs)) return
  const difference = serviceMs - Date.now()
  offsetMs = Math.abs(difference) > TOLERATED_MS ? difference : 0
}

/** Returns the time of the service in Unix milliseconds. */
export const serviceNow = (): number => Date.now() + offsetMs
