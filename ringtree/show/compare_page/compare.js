// Tables of a comparison sort and copy. For: compare.html.j2. Not for: how (tables.js).
'use strict';

equipAll();
