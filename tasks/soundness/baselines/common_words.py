"""Words that papers of any subject use: sharing them says little about what two texts have in common."""

from tasks.text.words import content_words

COMMON_STEMS = frozenset(
    content_words(
        """method model result experiment experimental data dataset approach performance propose evaluate evaluation analysis
        algorithm system task problem train training test learn learning network neural deep machine baseline compare comparison
        metric measure measurement design framework set value number high higher low lower large small different multiple single
        time process effect level research idea plan state art improve improvement accuracy accurate function information based
        technique condition change group sample control validate validation participant benchmark develop apply implement
        implementation perform identify assess examine determine various variety standard key first second main approach use
        useful feature representation represent structure input output application study report quality efficient efficiency
        effective novel general generalize real world human language code script statistical significant significance score rate
        average include random context part generate generation optimal optimize demonstrate achieve introduce challenge
        challenging estimate require environment allow robust robustness address previous dynamic order outperform scale enable
        map point obtain reduce parameter compute computer computation computational find available simple solution solve
        extensive case error term final limit limited limitation strategy cost better class target important complex complexity
        combine combination focus knowledge direct domain lead integrate end local operate capture approximate increase range
        potential property way utilize additional form example field relate relation track known mechanism prior step formulate
        theoretical size empirical wide predict prediction describe common type extend exploit inference explore ability action
        produce match capability sequence issue best rely provide addition build derive source possible scheme leverage
        architecture natural view goal dimensional search define enhance typical global construct component employ objective
        long advantage mean observe observation simultaneous interest similar close analyze consist consistent prove free
        variable understand detect detection extract special vary variation success successful incorporate support guarantee
        open contain continuous explicit practical corresponding involve handle make full difficult difficulty fast strong
        select selection independent remain create complete individual area procedure concept associate establish update
        maintain reason physical depend run public adapt pattern question future respect show power comprehensive systematic
        systematically conduct ensure investigate assessment variant variants criteria relationship overall initial outcome
        response factor influence role impact account quantify characterize characterization comparison record collect
        collection select subject item list document documented ablation ablations module zero four five six
        seven eight nine ten twelve hundred thousand million half"""
    )
)
