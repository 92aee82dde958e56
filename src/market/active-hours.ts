const HOUR = 3_600
/** Hours that have a bit: those of a window of a day, and as many again as a number of 32 bits holds. */
const HOURS = 32

/** The hours in which a mint had an event, so that a window reads no other. All times are starts of hours, Unix seconds. */
export interface ActiveHours {
  /** Hours before this one are unknown; 0 if the first event of the mint is known. */
  readonly from: number
  /** The newest hour with an event. */
  readonly newest: number
  /** A bit for each of 32 hours, the newest one first: set if it had an event. Older hours are unknown. */
  readonly bits: number
}

/** Adds the hour of an event. `isFirst`: no event of the mint came before. Returns equal hours as the same object. */
export function withActiveHour(known: ActiveHours | undefined, hour: number, isFirst: boolean): ActiveHours {
  // Block times fall by far less than an hour, so unknown events are at most in the hour after this one.
  if (known === undefined) return { from: isFirst ? 0 : hour + 2 * HOUR, newest: hour, bits: 1 }
  const ago = (known.newest - hour) / HOUR
  if (ago < 0) return { ...known, newest: hour, bits: ago <= -HOURS ? 1 : ((known.bits << -ago) | 1) >>> 0 }
  // Only after block times that fell by a day: the hour has no bit, so it must count as unknown.
  if (ago >= HOURS) return hour < known.from ? known : { ...known, from: hour + HOUR }
  const bits = (known.bits | (1 << ago)) >>> 0
  return bits === known.bits ? known : { ...known, bits }
}

/** Tells whether a mint may have had an event in an hour; false only if it had none. */
export function mayBeActive({ from, newest, bits }: ActiveHours, hour: number): boolean {
  const ago = (newest - hour) / HOUR
  if (ago < 0) return false
  return hour < from || ago >= HOURS || (bits & (1 << ago)) !== 0
}
