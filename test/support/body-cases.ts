/** Bodies of every kind with their fingerprints, which must be the same in Node and in every browser. */

export interface BodyCase {
  readonly kind: string;
  /** Each call makes the same body anew: a stream can be read once. */
  make(): BodyInit;
  /** SHA-256 of the bytes that a server gets; absent where a browser chooses a boundary. */
  readonly bytes?: string;
  readonly fingerprint: string;
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const every = Uint8Array.from({ length: 256 }, (_, n) => n);

/** All are sent by POST to this address, wherever they really go: the address is part of the fingerprint. */
export const ADDRESS = 'https://shop.example/pay';

export const bodyCases: readonly BodyCase[] = [
  {
    kind: 'text',
    make: () => '{"amount":42,"note":"Grüße 🎁"}',
    bytes: 'c12c8c6e5378c5de34a06b7effbec70129be412c872315861cea3284461a1fbf',
    fingerprint: '7530f5ab12961d71c795507bad496e2bc236b4aea956b0f7a88e7b6a0cf31ee7',
  },
  {
    kind: 'text with a lone surrogate',
    make: () => 'half \ud83c of it',
    bytes: '6dadfc19db38ad0a6067ccae43868f15d6928b4e8e5b0ff334c290b9d8847000',
    fingerprint: '2fdd2f088933e77ca8fbca6071d31289155f3b4ea5e20ecf941dd2ff3f47c360',
  },
  {
    kind: 'no bytes at all',
    make: () => '',
    bytes: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    fingerprint: 'bdf9179c36dd41a967266d40ebaa0aa633d70c70c1db003142bc5b7996b9aeef',
  },
  {
    kind: 'URLSearchParams',
    make: () =>
      new URLSearchParams([
        ['a', '1 2'],
        ['ü', '+&='],
        ['a', '🎁'],
      ]),
    bytes: '45417c956751521af0aa14a9cbd44de0d957eed68911e9eb1c747a7e0bbdebf4',
    fingerprint: 'd094fb9945cebf7b616af4fdd259656c47de0565acafb0b3ced2ae5aec65286c',
  },
  {
    kind: 'an ArrayBuffer',
    make: () => every.slice().buffer,
    bytes: '40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880',
    fingerprint: 'a021b7f94d4882b909e7f62998c73c6f1816d87910959707b98aaeed6d664400',
  },
  {
    kind: 'a view of a part of a buffer',
    make: () => new Uint16Array(every.slice().buffer, 4, 8),
    bytes: '570456796ff036c6f2c6198041a80be940436318e8143c286724f9bcb3b5ea3c',
    fingerprint: '500b26ed47d1882c6e4c564d5a9e00572ed2ad3fbb163f3258011e2173c589e8',
  },
  {
    kind: 'a Blob',
    make: () => new Blob(['a', every, 'é'], { type: 'application/octet-stream' }),
    bytes: '3cf5af916722f4a3dfc87f7fb31a709dea6e3f65bdc8a4d6c1981080c4e174d7',
    fingerprint: '9f8044aff9a225f6a6b61c17da30d711e3f7213dc278c1054033ba344ad7d8e7',
  },
  {
    kind: 'a File',
    make: () => new File([every], 'räksmörgås.bin', { type: 'image/png' }),
    bytes: '40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880',
    fingerprint: 'a021b7f94d4882b909e7f62998c73c6f1816d87910959707b98aaeed6d664400',
  },
  {
    kind: 'a stream',
    make: () =>
      new ReadableStream({
        start(controller) {
          for (const part of ['one, ', 'two, ', 'threé']) controller.enqueue(encode(part));
          controller.close();
        },
      }),
    bytes: '64d4618fd7ddb1b88252c6cd921b60e9aabc2824ccd658786a3a51a348ecc5dd',
    fingerprint: 'f43be7452aa383f9b3dd530589e7c9db914147e123991febcbabe45012edeefb',
  },
  {
    kind: 'a FormData',
    make: () => {
      const form = new FormData();
      form.append('note', 'two\nlines, and "quotes"');
      form.append('ü', 'é');
      form.append('note', 'again');
      return form;
    },
    fingerprint: 'b5f0bf9004ad3204ef75e4a2e52c7869ea54d263a411c6c813ba3b92d6e045a3',
  },
  {
    kind: 'a FormData with files',
    make: () => {
      const form = new FormData();
      form.append('title', 'receipts');
      form.append('scan', new File([every], 'räk "1".png', { type: 'image/png' }));
      form.append('scan', new Blob(['plain'], { type: 'text/plain' }), 'note.txt');
      form.append('nameless', new Blob(['x']));
      return form;
    },
    fingerprint: '443d3e2964074352b9d12df6d3caa3f59b9c891477430dd6507c2cf3c40cb813',
  },
];
