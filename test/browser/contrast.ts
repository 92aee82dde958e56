import type { Page } from 'playwright-core'

/** Text whose contrast is below WCAG 2.2 AA (1.4.3), with its ratio. */
interface ContrastReport {
  /** Texts that were measured. */
  readonly measured: number
  readonly faults: readonly { readonly text: string; readonly ratio: number }[]
}

/** Measures every visible text of a page against the background that the browser computed. */
export async function measureContrast(page: Page): Promise<ContrastReport> {
  return page.evaluate<ContrastReport>(MEASURE)
}

/** The script is text: it runs in the page, and the compiler does not know the types of a browser. */
const MEASURE = `(() => {
  const parse = (color) => {
    const numbers = /^rgba?\\(([^)]*)\\)$/.exec(color)
    if (numbers === null) throw new Error('a color that is not read: ' + color)
    const [r, g, b, a = 1] = numbers[1].split(/[,/ ]+/).map(Number)
    return [r, g, b, a]
  }
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1]
  const luminance = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const background = (element) => {
    if (element === null) return [255, 255, 255, 1]
    const color = parse(getComputedStyle(element).backgroundColor)
    return color[3] === 1 ? color : over(color, background(element.parentElement))
  }
  const opacity = (element) =>
    element === null ? 1 : Number(getComputedStyle(element).opacity) * opacity(element.parentElement)
  const faults = []
  let measured = 0
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim()
    const element = walker.currentNode.parentElement
    // Disabled controls are exempt; names for screen readers are invisible.
    if (text === '' || element.closest('script, noscript, option, :disabled, .field-name') !== null) continue
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const ground = background(element)
    const [r, g, b, a] = parse(color)
    const lights = [luminance(over([r, g, b, a * opacity(element)], ground)), luminance(ground)]
    const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05)
    const size = parseFloat(fontSize)
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700)
    measured++
    if (ratio < (isLarge ? 3 : 4.5)) faults.push({ text: text.slice(0, 60), ratio: Math.round(ratio * 100) / 100 })
  }
  return { measured, faults }
})()`
