import { h, type JSX } from 'preact'

/** A picture of an address: an image, or two colors that follow from the address and the first letter of a name. */
export function Avatar({
  seed,
  text,
  size = 28,
  imageUrl = null
}: {
  readonly seed: string
  readonly text: string
  readonly size?: number
  readonly imageUrl?: string | null
}): JSX.Element {
  if (imageUrl !== null)
    return h('img', { class: 'avatar', src: imageUrl, alt: '', width: size, height: size })
  let number = 7
  for (let at = 0; at < Math.min(seed.length, 44); at++) number = (number * 31 + seed.charCodeAt(at)) >>> 0
  const hue = number % 360
  const other = (hue + 40 + ((number >>> 9) % 80)) % 360
  const [letter = '?'] = text
  const id = `a${number.toString(36)}`
  return h(
    'svg',
    {
      class: 'avatar',
      width: size,
      height: size,
      viewBox: '0 0 32 32',
      'aria-hidden': 'true',
      focusable: 'false'
    },
    h(
      'defs',
      null,
      h(
        'linearGradient',
        { id, x1: 0, y1: 0, x2: 1, y2: 1 },
        h('stop', { offset: '0', 'stop-color': `hsl(${hue} 62% 40%)` }),
        h('stop', { offset: '1', 'stop-color': `hsl(${other} 68% 28%)` })
      )
    ),
    h('circle', { cx: 16, cy: 16, r: 16, fill: `url(#${id})` }),
    h(
      'text',
      { x: 16, y: 21.5, 'text-anchor': 'middle', 'font-size': 15, 'font-weight': 700, fill: '#fff' },
      letter.toUpperCase()
    )
  )
}
