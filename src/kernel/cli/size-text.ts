/** Formats bytes for people: `12.3 MB`. */
export function sizeText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(Math.abs(bytes), 1)) / 3), 5)
  const unit = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'][power]!
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${unit}`
}
