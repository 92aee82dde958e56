import fc from 'fast-check'
import t from 'tap'
import { imageFormOf } from '../../src/accounts/image-type.ts'
import { randomRuns } from '../random-runs.ts'
import { IMAGES, PIXEL } from './image-bytes.ts'

t.test('the form and size of an image are those that its bytes state', async (t) => {
  for (const [mediaType, image] of Object.entries(IMAGES))
    t.strictSame(imageFormOf(image(640, 480)), { mediaType, width: 640, height: 480 })
  t.strictSame(imageFormOf(PIXEL), { mediaType: 'image/png', width: 1, height: 1 })
  const lossless = Buffer.concat([Buffer.from('RIFF0000WEBPVP8L'), Buffer.alloc(14)])
  lossless.writeUInt32LE((640 - 1) | ((480 - 1) << 14), 21)
  t.match(imageFormOf(lossless), { mediaType: 'image/webp', width: 640, height: 480 })
  const lossy = Buffer.concat([Buffer.from('RIFF0000WEBPVP8 '), Buffer.alloc(14)])
  lossy.writeUInt16LE(640, 26)
  lossy.writeUInt16LE(480, 28)
  t.match(imageFormOf(lossy), { mediaType: 'image/webp', width: 640, height: 480 })
})

t.test('SVG, HTML, scripts and broken images are no images', async (t) => {
  for (const text of [
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '<!doctype html>',
    'alert(1)',
    '',
    'GIF89',
    'RIFF0000WEBP'
  ])
    t.equal(imageFormOf(Buffer.from(text)), null, text)
  for (const image of Object.values(IMAGES)) t.equal(imageFormOf(image(1, 1).subarray(0, 8)), null)
})

t.test('no bytes make the reader fail or read on for ever', async () => {
  const starts = Object.values(IMAGES).map((image) => image(9, 9))
  fc.assert(
    fc.property(
      fc.constantFrom(...starts, Buffer.alloc(0)),
      fc.nat(40),
      fc.uint8Array({ maxLength: 200 }),
      (start, kept, rest) => {
        const form = imageFormOf(Buffer.concat([start.subarray(0, kept), rest]))
        return form === null || (form.width >= 0 && form.height >= 0)
      }
    ),
    randomRuns(500)
  )
})
