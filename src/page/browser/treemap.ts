export interface Tile {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Divides a rectangle into tiles whose areas are in proportion to sizes, as close to squares as a greedy choice gives. */
export function tilesOf(sizes: readonly number[], width: number, height: number): Tile[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  if (total <= 0) return sizes.map(() => ({ x: 0, y: 0, width: 0, height: 0 }))
  const areas = sizes.map((size) => (size / total) * width * height)
  const tiles: Tile[] = []
  let rest = { x: 0, y: 0, width, height }
  let at = 0
  while (at < areas.length) {
    const side = Math.max(1e-9, Math.min(rest.width, rest.height))
    let count = 1
    while (
      at + count < areas.length &&
      worst(areas.slice(at, at + count + 1), side) <= worst(areas.slice(at, at + count), side)
    )
      count++
    const strip = areas.slice(at, at + count)
    const sum = strip.reduce((all, area) => all + area, 0)
    const depth = sum / side
    const isBeside = rest.width >= rest.height
    let offset = 0
    for (const area of strip) {
      const length = depth === 0 ? 0 : area / depth
      tiles.push(
        isBeside
          ? { x: rest.x, y: rest.y + offset, width: depth, height: length }
          : { x: rest.x + offset, y: rest.y, width: length, height: depth }
      )
      offset += length
    }
    rest = isBeside
      ? { ...rest, x: rest.x + depth, width: Math.max(0, rest.width - depth) }
      : { ...rest, y: rest.y + depth, height: Math.max(0, rest.height - depth) }
    at += count
  }
  return tiles
}

/** Returns the largest ratio of sides of a strip of areas along a side. */
function worst(areas: readonly number[], side: number): number {
  const sum = areas.reduce((all, area) => all + area, 0)
  if (sum === 0) return Infinity
  const largest = Math.max(...areas)
  const smallest = Math.min(...areas)
  if (smallest === 0) return Infinity
  return Math.max((side * side * largest) / (sum * sum), (sum * sum) / (side * side * smallest))
}
